import Glibc
import Testing
import Trawl

/// RFC 9111 §4.4.
@Suite("Fetches that a change of the resource overtakes, POOL-07", .timeLimit(.minutes(5)))
struct CacheOvertakingTests {
    @Test("who asks after an unsafe request was answered does not get what was asked for before it")
    func overtaken() async throws {
        let rest = Occasion()
        try await withScene(workers: 2) { request in
            if request.method == "POST" { return ScriptedOrigin.Answer(204, "") }
            rest.wait()
            return page(request.number == 1 ? "before" : "after", to: request)
        } _: { scene, coordinator in
            defer { rest.open() }
            let url = scene.origin.url("/page")
            let first = coordinator.start(Request(url))
            let isAsked = await eventually { scene.count == 1 }
            #expect(isAsked)
            let change = try await coordinator.send(Request(.post, url, body: .text("new")))
            #expect(change.status == 204)
            let second = coordinator.start(Request(url))
            let isAskedAnew = await eventually { scene.count == 3 }
            #expect(isAskedAnew, "it waits for the first")
            rest.open()
            let texts = [try await first.response.bodyText, try await second.response.bodyText]
            #expect(texts == ["before", "after"])
        }
    }

    @Test("what was asked for before an unsafe request was answered is not stored behind it", arguments: [false, true])
    func overtakenAtTheEnd(isAskedForAnew: Bool) async throws {
        let rest = Occasion()
        try await withScene(workers: 2) { request in
            if request.method == "POST" {
                // Times of requests and answers are told apart by the millisecond.
                usleep(2000)
                return ScriptedOrigin.Answer(204, "")
            }
            if request.number > 1 { return page("after", to: request) }
            rest.wait()
            return page("before", to: request)
        } _: { scene, coordinator in
            defer { rest.open() }
            let url = scene.origin.url("/page")
            let first = coordinator.start(Request(url))
            let isAsked = await eventually { scene.count == 1 }
            #expect(isAsked)
            let change = try await coordinator.send(Request(.post, url, body: .text("new")))
            #expect(change.status == 204)
            if isAskedForAnew {
                let second = try await coordinator.send(Request(url))
                #expect(second.bodyText == "after")
            }
            rest.open()
            let text = try await first.response.bodyText
            #expect(text == "before")
            let last = try await coordinator.send(Request(url))
            #expect(last.bodyText == "after")
            #expect(last.source == (isAskedForAnew ? .cache : .network))
        }
    }
}
