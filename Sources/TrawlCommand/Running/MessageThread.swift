import Glibc
import TrawlPlatform

/// Writes to standard error what a run says while it goes on: nothing waits for who does not read.
///
/// What is too much to keep is counted and dropped.
final class MessageThread: Sendable {
    /// How long the end of a run waits for the reader.
    private static let patience = 2_000 as Int32

    private let output: OutputThread<[UInt8]>
    private let isOver: WakeUp
    private let dropped = Guarded(0)

    init() throws(SystemError) {
        let over = try WakeUp()
        isOver = over
        output = try OutputThread(mostLoad: LineWriter.mostLoad) {
            LineWriter(descriptor: STDERR_FILENO)
        } changed: {
            over.signal()
        }
    }

    /// Hands over a text, or drops it when there is no room.
    func write(_ text: String) {
        guard output.hasRoom() else { return dropped.withLock { $0 += 1 } }
        let count = dropped.withLock { dropped in
            defer { dropped = 0 }
            return dropped
        }
        let note = count > 0 ? "trawl: \(count) messages were not read, and are lost\n" : ""
        output.add(Array((note + text).utf8))
    }

    /// Nothing more comes: waits a moment for the reader.
    func finish() {
        output.end()
        var poller = pollfd(fd: isOver.rawValue, events: Int16(POLLIN), revents: 0)
        while !output.isOver, poll(&poller, 1, Self.patience) > 0 { isOver.drain() }
    }
}
