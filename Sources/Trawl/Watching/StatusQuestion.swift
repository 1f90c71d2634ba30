import Glibc
import TrawlHTTP
import TrawlPlatform
import TrawlWatch

/// A question what the engine is doing, on its way to the supervisor's thread and back.
final class StatusQuestion: Sendable {
    /// Whether it takes the latest times away.
    let takesTimes: Bool
    private let answered: @Sendable (EngineSnapshot?) -> Void

    /// - Parameter answered: Called once, on the supervisor's thread: with nil when the engine is gone. It must not
    ///   wait.
    init(takesTimes: Bool = false, _ answered: @escaping @Sendable (EngineSnapshot?) -> Void) {
        self.takesTimes = takesTimes
        self.answered = answered
    }

    func answer(_ snapshot: EngineSnapshot?) { answered(snapshot) }

    /// Asks, and blocks the calling thread until the answer is there.
    ///
    /// - Parameter patience: How long it waits.
    /// - Returns: Nil when the engine is gone, or had no time for an answer.
    static func ask(_ mailbox: Mailbox, patience: Duration) -> EngineSnapshot? {
        guard let isThere = try? WakeUp() else { return nil }
        let cell = Cell()
        let question = StatusQuestion { snapshot in
            cell.snapshot.withLock { $0 = snapshot }
            isThere.signal()
        }
        guard mailbox.post(.status(question)) else { return nil }
        let end = MonotonicClock.now().advanced(by: patience)
        while true {
            let left = MonotonicClock.now().duration(to: end)
            guard left > .zero else { return nil }
            var poller = pollfd(fd: isThere.rawValue, events: Int16(POLLIN), revents: 0)
            if poll(&poller, 1, Int32(clamping: left.clampedMilliseconds)) > 0 { return cell.snapshot.withLock { $0 } }
        }
    }

    private final class Cell: Sendable {
        let snapshot = Guarded<EngineSnapshot?>(nil)
    }
}
