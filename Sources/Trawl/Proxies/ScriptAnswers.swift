import TrawlHTTP
import TrawlSession

/// Answers of proxy scripts, and hops that wait for them.
struct ScriptAnswers {
    /// How long an answer holds: scripts may look at the clock.
    private static let lifetime = Duration.seconds(300)
    /// Answers kept.
    private static let most = 4096

    private var known: [ProxyScripts.Question: (list: ProxyList, end: MonotonicInstant)] = [:]
    private var waiting: [ProxyScripts.Question: Waiting] = [:]
    /// What each of those who wait waits for.
    private var questions: [FetchKey: ProxyScripts.Question] = [:]

    /// Those who wait for one answer.
    private struct Waiting {
        /// In the order in which they came, those who have left among them.
        var hops: [(fetch: FetchKey, front: Bool)] = []
        /// How many have not left.
        var count = 0
    }

    /// An answer that still holds.
    func answer(_ question: ProxyScripts.Question, at now: MonotonicInstant) -> ProxyList? {
        known[question].flatMap { now < $0.end ? $0.list : nil }
    }

    /// Forgets what scripts said: the network is another one. Who waits goes on waiting.
    mutating func forget() { known = [:] }

    /// Lets a hop wait.
    /// - Returns: Whether it is the first, so that the question has to be asked.
    mutating func wait(_ fetch: FetchKey, front: Bool, for question: ProxyScripts.Question) -> Bool {
        if let earlier = questions.updateValue(question, forKey: fetch) {
            // It has been in the queue once more meanwhile, perhaps with another URL.
            if earlier == question { return false }
            waiting[earlier]?.count -= 1
        }
        waiting[question, default: Waiting()].hops.append((fetch, front))
        waiting[question]?.count += 1
        return waiting[question]?.count == 1
    }

    /// A fetch ends.
    /// - Returns: The question whose answer nobody waits for any more because of that.
    mutating func leave(_ fetch: FetchKey) -> ProxyScripts.Question? {
        guard !questions.isEmpty, let question = questions.removeValue(forKey: fetch) else { return nil }
        waiting[question]?.count -= 1
        guard waiting[question]?.count == 0 else { return nil }
        waiting[question] = nil
        return question
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
        let hops = waiting.removeValue(forKey: question)?.hops.filter { questions[$0.fetch] == question } ?? []
        for hop in hops { questions[hop.fetch] = nil }
        return hops
    }
}
