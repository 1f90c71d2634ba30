import Testing
import TrawlHTTP
import TrawlProtocol

@testable import Trawl

@Suite("Questions that several fetches have for a program")
struct ProgramQuestionsTests {
    private let origin = Origin(scheme: "https", host: "one.test", port: 443)

    @Test("the first asks, the others wait, and the answer is for all of them")
    func waiting() {
        var questions = ProgramQuestions()
        let subjects = [1, 1, 2].map { TrustSubject(origin: origin, certificate: [$0]) }
        var asks: [Bool] = []
        for (index, subject) in subjects.enumerated() {
            let number = UInt64(index)
            let waiter = TrustWaiter(
                fetch: FetchKey(rawValue: number), question: number, failure: HopFailure(.tlsUndecided))
            asks.append(questions.wait(waiter, for: subject))
        }
        #expect(asks == [true, false, true])
        let waited = subjects.map { questions.takeWaiters(for: $0).map(\.question) }
        #expect(waited == [[0, 1], [], [2]])
    }

    @Test("a certificate that is accepted takes the place of another one of its server")
    func accepted() {
        var questions = ProgramQuestions()
        #expect(questions.decided(about: origin) == .undecided)
        questions.accept(TrustSubject(origin: origin, certificate: [1]))
        questions.accept(TrustSubject(origin: origin, certificate: [2]))
        #expect(questions.decided(about: origin) == .accepted([2]))
    }

    @Test("a certificate that is left to the rules is not accepted, and one that is accepted stays so")
    func leftToRules() {
        var questions = ProgramQuestions()
        let subject = TrustSubject(origin: origin, certificate: [1])
        questions.leaveToRules(subject)
        #expect(questions.decided(about: origin) == .verified([1]))
        questions.accept(subject)
        questions.leaveToRules(subject)
        #expect(questions.decided(about: origin) == .accepted([1]))
        questions.leaveToRules(TrustSubject(origin: origin, certificate: [2]))
        #expect(questions.decided(about: origin) == .verified([2]))
    }

    @Test("that no client certificate was chosen is known until it is forgotten")
    func chosen() {
        var questions = ProgramQuestions()
        var isKnown = [questions.chosen(for: origin) != nil]
        questions.choose(nil, for: origin)
        isKnown.append(questions.chosen(for: origin) != nil)
        questions.forgetChoice(for: origin)
        isKnown.append(questions.chosen(for: origin) != nil)
        #expect(isKnown == [false, true, false])
    }
}
