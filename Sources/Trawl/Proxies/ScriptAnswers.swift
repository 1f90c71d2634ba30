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

    /// Forgets what scripts said: the network is another one. Who waits goes on waiting.
    mutating func forget() { known = [:] }

    /// Lets a hop wait.
    /// - Returns: Whether it is the first, so that the question has to be asked.
    mutating func wait(_ fetch: FetchKey, front: Bool, for question: ProxyScripts.Question) -> Bool {
        waiting[question, default: []].append((fetch, front))
        return waiting[question]?.count == 1
    }

    /// Takes an answer. One that came to nothing for want of patience is for those who wait alone.
    /// - Returns: Those who waited for it.
    mutating func take(
        _ answer: ProxyScripts.Answer, for question: ProxyScripts.Question, at now: MonotonicInstant
    ) -> [(fetch: FetchKey, front: Bool)] {
        if known.count >= Self.most { known.removeAll() }
        let end = now.advanced(by: Self.lifetime)
        switch answer {
        case .ways(let list): known[question] = (list, end)
        case .failure(let nextLook): known[question] = (answer.list, min(end, nextLook))
        case .unanswered: known[question] = nil
        }
        return waiting.removeValue(forKey: question) ?? []
    }
}
