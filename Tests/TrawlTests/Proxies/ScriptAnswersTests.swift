import Testing
import TrawlHTTP
import TrawlSession

@testable import Trawl

@Suite("Answers of proxy scripts, ASI-PRX-05")
struct ScriptAnswersTests {
    private let question = ProxyScripts.Question(
        place: "/p.pac", origin: Origin(scheme: "http", host: "a.test", port: 80))

    private func at(_ seconds: UInt64) -> MonotonicInstant { MonotonicInstant(nanoseconds: seconds * 1_000_000_000) }

    @Test("what a script said is not taken for another's whose name is the same to Unicode")
    func equivalentNames() throws {
        let list = try #require(ProxyList("PROXY p.test:1"))
        let questions = ["/e\u{301}.pac", "/\u{E9}.pac"].map {
            ProxyScripts.Question(place: $0, origin: question.origin)
        }
        var answers = ScriptAnswers()
        _ = answers.take(.ways(list), for: questions[0], at: at(10))
        #expect(answers.answer(questions[0], at: at(10)) != nil)
        #expect(answers.answer(questions[1], at: at(10)) == nil)
    }

    @Test("an answer holds for five minutes, and a failure no longer than until the script is looked at again")
    func lifetimes() throws {
        let list = try #require(ProxyList("PROXY p.test:1"))
        let cases: [(answer: ProxyScripts.Answer, end: UInt64)] = [
            (.ways(list), 310), (.failure(until: at(40)), 40), (.failure(until: at(4000)), 310),
            (.failure(until: at(10)), 10),
        ]
        for (answer, end) in cases {
            var answers = ScriptAnswers()
            let isFirst = [1, 2].map { answers.wait(FetchKey(rawValue: $0), front: false, for: question) }
            #expect(isFirst == [true, false])
            let waited = answers.take(answer, for: question, at: at(10)).map { $0.fetch.rawValue }
            #expect(waited == [1, 2])
            #expect(end == 10 || answers.answer(question, at: at(end - 1)) == answer.list)
            #expect(answers.answer(question, at: at(end)) == nil)
        }
    }

    @Test("what came to nothing for want of patience is kept for nobody, and another network ends what is kept")
    func forgotten() throws {
        let list = try #require(ProxyList("PROXY p.test:1"))
        var answers = ScriptAnswers()
        _ = answers.wait(FetchKey(rawValue: 1), front: false, for: question)
        var limits = RequestOptions.TimeLimits()
        limits.exchange = .seconds(1)
        let waited = answers.take(.unanswered(within: ScriptPatience(limits)), for: question, at: at(10))
        #expect(waited.count == 1 && answers.answer(question, at: at(10)) == nil)
        _ = answers.take(.ways(list), for: question, at: at(10))
        #expect(answers.answer(question, at: at(10)) == list)
        answers.forget()
        #expect(answers.answer(question, at: at(10)) == nil)
    }

    @Test("the last who leaves takes the question along, and who has left gets no answer")
    func left() throws {
        let list = try #require(ProxyList("PROXY p.test:1"))
        let other = ProxyScripts.Question(place: "/p.pac", origin: Origin(scheme: "http", host: "b.test", port: 80))
        let keys = (1...4).map { FetchKey(rawValue: $0) }
        var answers = ScriptAnswers()
        func waits(_ key: Int, for question: ProxyScripts.Question) -> Bool {
            answers.wait(keys[key], front: false, for: question)
        }
        func leaves(_ key: Int) -> ProxyScripts.Question? { answers.leave(keys[key]) }
        func taken(_ question: ProxyScripts.Question) -> [FetchKey] {
            answers.take(.ways(list), for: question, at: at(10)).map(\.fetch)
        }
        #expect(leaves(0) == nil)
        #expect(waits(0, for: question))
        // Another, the same once more, and one that goes on with another URL.
        #expect(!waits(1, for: question) && !waits(0, for: question) && !waits(2, for: question))
        #expect(waits(2, for: other))
        #expect(leaves(0) == nil && leaves(0) == nil)
        #expect(leaves(1) == question && leaves(1) == nil)
        // Who comes then is the first again.
        #expect(waits(3, for: question))
        #expect(taken(question) == [keys[3]] && taken(other) == [keys[2]])
        #expect(leaves(2) == nil && leaves(3) == nil)
    }

    @Test("patience is the request's own, up to what all can be held up; less than was tried is not tried again")
    func patience() {
        let longest = ScriptPatience(RequestOptions.TimeLimits())
        #expect(longest == .longest)
        var limits = RequestOptions.TimeLimits()
        (limits.exchange, limits.connect, limits.inactivity) = (.seconds(60), .seconds(60), .seconds(60))
        #expect(ScriptPatience(limits) == .longest)
        limits.exchange = .seconds(5)
        let five = ScriptPatience(limits)
        limits.resource = .seconds(2)
        let two = ScriptPatience(limits)
        #expect(five.whole == .seconds(5) && two.whole == .seconds(2) && two.connect == .seconds(10))
        #expect(longest.covers(five) && five.covers(two) && two.covers(two))
        #expect(!two.covers(five) && !five.covers(longest))
    }
}
