import Synchronization
import TrawlPlatform

/// What callers' threads see of the session's credentials without asking the supervisor: whether there are any, and
/// that they change.
final class CredentialState: Sendable {
    private struct Followers {
        var streams: [UInt64: AsyncStream<UInt64>.Continuation] = [:]
        var lastNumber: UInt64 = 0
        var isOver = false
    }

    private let isKept = Atomic(false)
    private let followers = Guarded(Followers())

    /// Said by the supervisor.
    func set(isKept: Bool) { self.isKept.store(isKept, ordering: .releasing) }

    /// Said by the supervisor, after each change: how many there have been.
    func tell(_ changes: UInt64) {
        // Outside of the lock, for which the cancellation of a task that waits for it does (`onTermination`).
        let streams = followers.withLock { $0.streams }
        for stream in streams.values { stream.yield(changes) }
    }

    /// Said by the supervisor when it ends.
    func end() {
        let streams = followers.withLock { followers in
            followers.isOver = true
            defer { followers.streams = [:] }
            return Array(followers.streams.values)
        }
        for stream in streams { stream.finish() }
    }

    /// The numbers of changes from now on.
    var changes: AsyncStream<UInt64> {
        AsyncStream(bufferingPolicy: .bufferingNewest(1)) { stream in
            let number: UInt64? = followers.withLock { followers in
                if followers.isOver { return nil }
                followers.lastNumber += 1
                followers.streams[followers.lastNumber] = stream
                return followers.lastNumber
            }
            guard let number else { return stream.finish() }
            stream.onTermination = { [weak self] _ in
                self?.followers.withLock { _ = $0.streams.removeValue(forKey: number) }
            }
        }
    }

    /// Whether a request of a plan may say who it is made as before anybody asks.
    func mayConcern(_ plan: borrowing FetchPlan) -> Bool {
        let terms = plan.terms.authentication
        guard terms.isOn else { return false }
        return terms.maySendOwnAhead(for: plan.target) || (terms.readsSession && isKept.load(ordering: .acquiring))
    }
}
