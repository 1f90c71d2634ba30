import TrawlHTTP
import TrawlSession

/// Answers of proxy scripts, and hops that wait for them.
struct ScriptAnswers {
    /// How long an answer holds: scripts may look at the clock.
    private static let lifetime = Duration.seconds(300)
    /// Answers kept.
    private static let most = 4096

    private var known: [ProxyScripts.Question: (list: ProxyList, end: MonotonicInstant)] = [:]
    private var waiting: [ProxyScripts.Question: [(fetch: FetchKey, front: Bool)]] = [:]

    /// An answer that still holds.
    func answer(_ question: ProxyScripts.Question, at now: MonotonicInstant) -> ProxyList? {
        known[question].flatMap { now < $0.end ? $0.list : nil }
    }

    /// Lets a hop wait.
    /// - Returns: Whether it is the first, so that the question has to be asked.
    mutating func wait(_ fetch: FetchKey, front: Bool, for question: ProxyScripts.Question) -> Bool {
        waiting[question, default: []].append((fetch, front))
        return waiting[question]?.count == 1
    }

    /// Takes an answer.
    /// - Returns: Those who waited for it.
    mutating func take(
        _ answer: ProxyScripts.Answer, for question: ProxyScripts.Question, at now: MonotonicInstant
    ) -> [(fetch: FetchKey, front: Bool)] {
        if known.count >= Self.most { known.removeAll() }
        var end = now.advanced(by: Self.lifetime)
        if case .failure(let nextLook) = answer { end = min(end, nextLook) }
        known[question] = (answer.list, end)
        return waiting.removeValue(forKey: question) ?? []
    }
}
