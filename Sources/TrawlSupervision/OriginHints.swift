/// Which worker was last given a hop of an origin, and so likely has a connection to it.
///
/// A fixed table without chains: two origins that meet in one place forget each other, which costs a connection, no
/// more.
struct OriginHints: Sendable {
    private struct Hint: Sendable {
        var origin: OriginKey = 0
        var worker: Int32 = -1
    }

    private static let size = 4096
    private var hints = [Hint](repeating: Hint(), count: OriginHints.size)

    func worker(for origin: OriginKey) -> Int? {
        let hint = hints[Int(origin) & (Self.size - 1)]
        return hint.origin == origin && hint.worker >= 0 ? Int(hint.worker) : nil
    }

    mutating func used(_ origin: OriginKey, by worker: Int) {
        hints[Int(origin) & (Self.size - 1)] = Hint(origin: origin, worker: Int32(truncatingIfNeeded: worker))
    }
}
