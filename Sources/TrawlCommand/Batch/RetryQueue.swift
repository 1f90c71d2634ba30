import Trawl
import TrawlHTTP

/// Requests that wait to be tried again.
struct RetryQueue {
    /// Statuses of failures that may pass, as curl's `--retry` takes them.
    private static let passingStatuses: Set<Int> = [408, 429, 500, 502, 503, 504]
    /// The longest wait.
    private static let longestDelay = Duration.seconds(600)

    /// Earliest first, from `first` on; what is before it was taken.
    private var waiting: [(time: MonotonicInstant, tag: UInt64)] = []
    private var first = 0

    var isEmpty: Bool { count == 0 }

    /// How many wait.
    var count: Int { waiting.count - first }

    /// When the next is due.
    var next: MonotonicInstant? { isEmpty ? nil : waiting[first].time }

    mutating func insert(_ tag: UInt64, at time: MonotonicInstant) {
        // Waits grow, so most new ones belong to the end.
        var (low, high) = (first, waiting.count)
        while low < high {
            let middle = low + (high - low) / 2
            if waiting[middle].time <= time { low = middle + 1 } else { high = middle }
        }
        waiting.insert((time, tag), at: low)
    }

    mutating func takeDue(at now: MonotonicInstant) -> UInt64? {
        guard let next, next <= now else { return nil }
        let tag = waiting[first].tag
        first += 1
        if first > 64, first * 2 > waiting.count {
            waiting.removeFirst(first)
            first = 0
        }
        return tag
    }

    /// Empties the queue and returns what waited.
    mutating func removeAll() -> [UInt64] {
        defer { (waiting, first) = ([], 0) }
        return waiting[first...].map(\.tag)
    }

    /// Whether a response says that another attempt may come to more.
    static func mayPass(_ response: Response) -> Bool {
        // What nobody said will not be said otherwise.
        mayPass(status: response.status) && response.source != .generated
    }

    /// Whether it is a status after which another attempt may come to more.
    static func mayPass(status: Int) -> Bool { passingStatuses.contains(status) }

    /// How long to wait before the next attempt; nil when there is no use in one.
    ///
    /// - Parameter mayRepeat: Whether a request that a server has answered may be sent again.
    static func delay(after result: Result<Response, FetchError>, attempt: Int, mayRepeat: Bool) -> Duration? {
        switch result {
        case .failure(let error): error.isRetryable ? delay(nil, attempt: attempt) : nil
        case .success(let response):
            mayPass(response) && mayRepeat ? delay(response.fields["Retry-After"], attempt: attempt) : nil
        }
    }

    /// 1 s, doubled with each attempt, or what `Retry-After` says in seconds (RFC 9110 §10.2.3), at most ten minutes.
    static func delay(_ retryAfter: String?, attempt: Int) -> Duration {
        if let retryAfter, let seconds = Int64(retryAfter), seconds >= 0 { return min(.seconds(seconds), longestDelay) }
        return min(.seconds(1 << min(attempt - 1, 20)), longestDelay)
    }
}
