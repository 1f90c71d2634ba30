import Testing
import TrawlHTTP

@testable import Trawl

@Suite("A driver that comes when its coordinator has been shut down")
struct LateDriverTests {
    @Test("it comes to its end all the same, and what it starts is refused", .timeLimit(.minutes(10)))
    func late() async throws {
        var configuration = Configuration()
        configuration.workers = 0
        configuration.store = .none
        try await withCoordinator(configuration) { coordinator in
            let template = try coordinator.template(of: Request("http://h/"))
            let target = try coordinator.target(of: "http://h/", template)
            let driver = OneFetch(coordinator.prepare(target, template, into: .discard, tag: 7))
            await coordinator.shutdown()
            coordinator.run(driver)
            #expect(driver.turns == 2)
            #expect(driver.answers.map(\.tag) == [7])
            let error = #expect(throws: FetchError.self) { try driver.answers.first?.result.get() }
            #expect(error?.code == .shutDown)
        }
    }
}

/// Starts one fetch, and is done when that is over.
private final class OneFetch: FetchDriver {
    let readsMetrics = false
    private var fetch: PreparedFetch?
    private(set) var answers: [FetchAnswer] = []
    private(set) var turns = 0

    init(_ fetch: PreparedFetch) { self.fetch = fetch }

    func turn(_ answers: [FetchAnswer], at now: MonotonicInstant, _ load: DriverLoad) -> DriverTurn {
        self.answers += answers
        turns += 1
        guard let fetch else { return DriverTurn(isFinished: true) }
        self.fetch = nil
        return DriverTurn(start: [fetch])
    }
}
