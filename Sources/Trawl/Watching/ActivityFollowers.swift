import TrawlHTTP
import TrawlWatch

/// Those who follow how many fetches there are.
///
/// Bound to the supervisor thread.
struct ActivityFollowers {
    private var tally = ActivityTally()
    private var followers: [UInt64: AsyncStream<Int>.Continuation] = [:]

    /// Whether there is anybody.
    var isEmpty: Bool { followers.isEmpty }

    /// When there may be something to tell; nil is never, or nobody follows.
    var nextLook: MonotonicInstant? { followers.isEmpty ? nil : tally.nextLook }

    /// One more, who is told the present number at once.
    mutating func add(
        _ number: UInt64, _ continuation: AsyncStream<Int>.Continuation, _ count: Int, at now: MonotonicInstant
    ) {
        if followers.isEmpty { tally = ActivityTally() }
        // What all have been told is what all are told the next change of.
        look(count, at: now)
        followers[number] = continuation
        continuation.yield(tally.current)
    }

    mutating func remove(_ number: UInt64) { followers[number] = nil }

    /// Tells what there is to tell.
    mutating func look(_ count: Int, at now: MonotonicInstant) {
        guard let told = tally.look(count, at: now) else { return }
        for follower in followers.values { follower.yield(told) }
    }

    /// The coordinator ends.
    mutating func finish() {
        for follower in followers.values {
            follower.yield(0)
            follower.finish()
        }
        followers = [:]
    }
}
