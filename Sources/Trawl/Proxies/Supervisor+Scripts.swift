import TrawlHTTP
import TrawlPlatform
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

extension Supervisor {
    /// Asks a script for the way of a hop.
    ///
    /// - Returns: False when the hop waits for the answer.
    mutating func hasWay(_ fetch: RunningFetch, byScript place: String, _ terms: ProxyTerms, front: Bool) -> Bool {
        let question = ProxyScripts.Question(place: place, origin: fetch.engine.target.origin)
        if let list = scriptAnswers.answer(question, at: now) {
            fetch.engine.way = HopWay(list.ways, terms, isByScript: true)
            return true
        }
        if scriptAnswers.wait(fetch.engine.key, front: front, for: question) {
            scripts.ask(question, limits: fetch.plan.options.timeLimits)
        }
        return false
    }

    /// A script has answered.
    mutating func routed(_ question: ProxyScripts.Question, _ answer: ProxyScripts.Answer) {
        for (key, front) in scriptAnswers.take(answer, for: question, at: now) {
            // Meanwhile it may have been cancelled, or have gone on to elsewhere.
            guard let fetch = fetches[key], fetch.engine.mayBegin, fetch.engine.place == nil,
                fetch.engine.way == nil, fetch.engine.target.origin == question.origin
            else { continue }
            fetch.engine.way = HopWay(answer.list.ways, fetch.plan.terms.proxies ?? proxies, isByScript: true)
            enqueue(fetch, front: front)
        }
    }
}
