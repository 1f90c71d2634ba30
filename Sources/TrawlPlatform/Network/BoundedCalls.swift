import Glibc
import TrawlHTTP

/// Calls that block for as long as they like, each waited for no longer than its caller wants to.
///
/// One that is given up goes on, and keeps its thread busy until it ends.
struct BoundedCalls: ~Copyable {
    /// Calls that may go on with nobody waiting; with so many none begins.
    static let mostAbandoned = 16

    private let abandoned = Abandoned()

    /// What a call answers; nil when it says so, or does not end in time, or cannot begin. Time in which this process
    /// was stopped does not count.
    ///
    /// - Parameter call: Runs on a thread of its own.
    func run(within limit: Duration, _ call: @escaping @Sendable () -> String?) -> String? {
        guard abandoned.count < Self.mostAbandoned, let answer = try? Answer(abandoned) else { return nil }
        do throws(SystemError) {
            // Not joined: it frees itself when the call has ended.
            _ = try NamedThread.start(name: "trawl-name") { answer.give(call()) }
        } catch {
            return nil
        }
        return answer.wait(for: limit)
    }

    /// How many calls go on with nobody waiting.
    private final class Abandoned: Sendable {
        private let calls = Guarded(0)

        var count: Int { calls.withLock { $0 } }

        func change(by number: Int) { calls.withLock { $0 += number } }
    }

    /// What one thread says to another.
    private final class Answer: Sendable {
        private enum State {
            case awaited
            case given(String?)
            case abandoned
        }

        private static let longestPart: Int64 = 250_000_000

        private let state = Guarded(State.awaited)
        private let wakeUp: WakeUp
        private let abandoned: Abandoned

        init(_ abandoned: Abandoned) throws(SystemError) {
            wakeUp = try WakeUp()
            self.abandoned = abandoned
        }

        /// The call has ended.
        func give(_ text: String?) {
            let isAwaited = state.withLock { state in
                if case .abandoned = state { return false }
                state = .given(text)
                return true
            }
            if isAwaited { wakeUp.signal() } else { abandoned.change(by: -1) }
        }

        func wait(for limit: Duration) -> String? {
            var watched = pollfd(fd: wakeUp.rawValue, events: Int16(POLLIN), revents: 0)
            var left = max(0, limit.clampedNanoseconds)
            while true {
                // No more than a part counts at a time, so a stop counts as that much.
                let part = min(left, Self.longestPart)
                let began = MonotonicClock.now()
                let found = poll(&watched, 1, Int32((part + 999_999) / 1_000_000))
                if found > 0 || found == 0 && left == 0 || found < 0 && errno != EINTR { break }
                left -= min(part, max(0, began.duration(to: MonotonicClock.now()).clampedNanoseconds))
            }
            return state.withLock { state in
                if case .given(let text) = state { return text }
                state = .abandoned
                // Before the call can find that out.
                abandoned.change(by: 1)
                return nil
            }
        }
    }
}
