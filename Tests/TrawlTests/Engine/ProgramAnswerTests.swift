import Testing

@testable import Trawl

@Suite("What programs are asked")
struct ProgramAnswerTests {
    private struct Problem: Error {}

    /// Asks somebody who says nothing.
    private static func ask(within limit: Duration?) async -> Result<Int, FetchError> {
        await ProgramAnswer.about("it", "http://a.test/", within: limit) { () async throws -> Int in
            try await Task.sleep(for: .seconds(3600))
            return 1
        }
    }

    @Test("what is said, thrown and not said in time")
    func answers() async {
        let said = await ProgramAnswer.about("it", nil, within: .seconds(3600)) { () async throws -> Int in 1 }
        #expect(said == .success(1))
        let thrown = await ProgramAnswer.about("it", nil, within: nil) { () async throws -> Int in throw Problem() }
        #expect(thrown == .failure(FetchError(.hookFailed, "the decision about it threw: Problem()")))
        let late = await Self.ask(within: .milliseconds(1))
        guard case .failure(let error) = late else {
            Issue.record("\(late)")
            return
        }
        #expect(error.code == .timeout && error.url == "http://a.test/")
    }

    @Test(
        "an asking task that is cancelled is told that, whatever the limit",
        arguments: [nil, .seconds(3600)] as [Duration?])
    func cancelled(limit: Duration?) async {
        let asking = Task { await Self.ask(within: limit) }
        asking.cancel()
        let answer = await asking.value
        #expect(answer == .failure(FetchError(.cancelled, "", url: "http://a.test/")))
    }
}
