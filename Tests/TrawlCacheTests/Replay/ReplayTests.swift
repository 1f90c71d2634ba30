import Testing

@Suite("The cases of a public suite for HTTP caches, replayed")
struct ReplayTests {
    /// Choices that were made the other way; docs/conformance.md says why.
    private static let otherwise: Set = [
        "freshness-max-age-two-stale-fresh-sepline", "freshness-max-age-decimal-five", "freshness-max-age-100a",
        "age-parse-parameter", "age-parse-numeric-parameter", "stale-warning-become", "stale-warning-stored",
        "heuristic-delta-10", "pragma-request-no-cache", "conditional-etag-strong-generate-unquoted",
        "304-etag-update-response-Content-Encoding", "304-etag-update-response-Content-Range", "head-410-update",
        "other-age-delay",
    ]

    @Test("there are cases")
    func loaded() {
        #expect(ReplayCase.all.count == 171)
    }

    @Test("what the standard requires holds", arguments: ReplayCase.all.filter { $0.kind == .required })
    func required(test: ReplayCase) {
        #expect(ReplayRun.outcome(of: test) == .passed, "\(test.name)")
    }

    @Test("what a good cache does is done", arguments: ReplayCase.all.filter { $0.kind == .optimal })
    func optimal(test: ReplayCase) {
        #expect(ReplayRun.outcome(of: test) == .passed, "\(test.name)")
    }

    @Test(
        "where the standard leaves a choice, it is the one we made",
        arguments: ReplayCase.all.filter { $0.kind == .check })
    func check(test: ReplayCase) {
        #expect((ReplayRun.outcome(of: test) == .passed) == !Self.otherwise.contains(test.id), "\(test.name)")
    }
}
