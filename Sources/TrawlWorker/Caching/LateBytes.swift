import TrawlProtocol
import TrawlTransfer

/// A stored body that is looked for when its first byte is wanted, for who most likely wants none.
final class LateBytes: StoredBytes {
    let length: UInt64
    private var find: (() -> (any StoredBytes)?)?
    private var bytes: (any StoredBytes)?

    /// - Parameter find: Called once at most.
    init(_ length: UInt64, _ find: @escaping () -> (any StoredBytes)?) {
        self.length = length
        self.find = find
    }

    func inspect() throws(HopFailure) -> Int { try found().inspect() }

    func next(into file: Int32?) throws(HopFailure) -> StoredPiece? { try found().next(into: file) }

    private func found() throws(HopFailure) -> any StoredBytes {
        if let find {
            self.find = nil
            bytes = find()
        }
        guard let bytes else { throw HopFailure(.storedResponse, detail: "the stored body is gone") }
        return bytes
    }
}
