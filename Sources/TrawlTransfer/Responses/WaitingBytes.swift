/// Bytes that wait in their order and are taken from the front. Nothing is moved when some are: all of it is freed with
/// the last.
struct WaitingBytes {
    private var bytes: [UInt8] = []
    /// How many of them have been taken.
    private var taken = 0

    /// How many wait.
    var count: Int { bytes.count - taken }
    var isEmpty: Bool { count == 0 }

    mutating func append(_ more: UnsafeRawBufferPointer) {
        bytes.append(contentsOf: more)
    }

    /// Lends what waits.
    func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        bytes.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[taken...])) }
    }

    /// So many are taken.
    mutating func removeFirst(_ count: Int) {
        precondition(count <= self.count, "more bytes taken than there were")
        taken += count
        if isEmpty { removeAll() }
    }

    mutating func removeAll() {
        bytes = []
        taken = 0
    }
}
