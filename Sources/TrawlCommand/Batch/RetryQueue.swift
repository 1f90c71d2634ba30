import Trawl
import TrawlHTTP

/// Requests that wait to be tried again.
struct RetryQueue {
    /// Statuses of failures that may pass, as curl's `--retry` takes them.
    private static let passingStatuses: Set<Int> = [408, 429, 500, 502, 503, 504]
    /// The longest wait.
    private static let longestDelay = Duration.seconds(600)

    private var waiting: [(time: MonotonicInstant, tag: UInt64)] = []

    var isEmpty: Bool { waiting.isEmpty }

    /// When the next is due.
    var next: MonotonicInstant? { waiting.last?.time }

    mutating func insert(_ tag: UInt64, at time: MonotonicInstant) {
        // Latest first; waits double, so most new ones belong to the front.
        let place = waiting.firstIndex { $0.time <= time } ?? waiting.count
        waiting.insert((time, tag), at: place)
    }

    mutating func takeDue(at now: MonotonicInstant) -> UInt64? {
        guard let next, next <= now else { return nil }
        return waiting.removeLast().tag
    }

    /// Empties the queue and returns what waited.
    mutating func removeAll() -> [UInt64] {
        defer { waiting = [] }
        return waiting.map(\.tag)
    }

    /// How long to wait before the next attempt; nil when there is no use in one.
    ///
    /// 1 s, doubled with each attempt, or what `Retry-After` says in seconds (RFC 9110 §10.2.3), at most ten minutes.
    static func delay(
        after result: Result<Response, FetchError>, attempt: Int, isIdempotent: Bool
    ) -> Duration? {
        switch result {
        case .failure(let error):
            guard error.isRetryable else { return nil }
        case .success(let response):
            // What nobody said will not be said otherwise.
            guard passingStatuses.contains(response.status), isIdempotent, response.source != .generated else {
                return nil
            }
            if let text = response.fields["Retry-After"], let seconds = Int64(text), seconds >= 0 {
                return min(.seconds(seconds), longestDelay)
            }
        }
        return min(.seconds(1 << min(attempt - 1, 20)), longestDelay)
    }
}
