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

    /// - Parameter descriptor: Where it writes, if not to standard error.
    init(descriptor: Int32 = STDERR_FILENO) throws(SystemError) {
        let over = try WakeUp()
        isOver = over
        output = try OutputThread(mostLoad: LineWriter.mostLoad) {
            LineWriter(descriptor: descriptor)
        } changed: {
            over.signal()
        }
    }

    /// Hands over a text, or drops it when there is no room.
    func write(_ text: String) {
        guard output.hasRoom() else { return dropped.withLock { $0 += 1 } }
        output.add(Array((takeNote() + text).utf8))
    }

    /// What is to be said of messages that were dropped, once.
    private func takeNote() -> String {
        let count = dropped.withLock { dropped in
            defer { dropped = 0 }
            return dropped
        }
        return count > 0 ? "trawl: \(count) messages were not read, and are lost\n" : ""
    }

    /// Nothing more comes: waits a moment for the reader.
    func finish() {
        // Without room too: it is the last.
        let note = takeNote()
        if !note.isEmpty { output.add(Array(note.utf8)) }
        output.end()
        var poller = pollfd(fd: isOver.rawValue, events: Int16(POLLIN), revents: 0)
        while !output.isOver, poll(&poller, 1, Self.patience) > 0 { isOver.drain() }
    }
}
