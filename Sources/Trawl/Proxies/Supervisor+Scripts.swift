import TrawlHTTP
import TrawlPlatform
import TrawlSession

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
            scripts.ask(question, patience: ScriptPatience(fetch.plan.options.timeLimits))
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
            // Its own time is longer than that in which the script did not come: it asks again.
            if case .unanswered(let patience) = answer,
                !patience.covers(ScriptPatience(fetch.plan.options.timeLimits))
            {
                enqueue(fetch, front: front)
                continue
            }
            fetch.engine.way = HopWay(answer.list.ways, fetch.plan.terms.proxies ?? proxies, isByScript: true)
            enqueue(fetch, front: front)
        }
    }
}
