import Foundation
import Testing
import Trawl
import TrawlFoundation

@Suite("Requests, bodies and errors with Foundation's types", .timeLimit(.minutes(3)))
struct FoundationTypesTests {
    @Test("a URL makes a request", arguments: ["http://a.test/x?y=1#z", "https://user:pass@a.test:8443/%20"])
    func requests(text: String) throws {
        let url = try #require(URL(string: text))
        #expect(Request(url) == Request(text))
    }

    @Test("a relative URL is resolved")
    func relative() throws {
        let base = try #require(URL(string: "http://a.test/x/y"))
        let url = try #require(URL(string: "../z", relativeTo: base))
        #expect(Request(url).url == "http://a.test/z")
    }

    @Test("a body makes Data, whether its bytes are in an array or mapped", arguments: [0, 5, 3_000_000])
    func bodies(length: Int) async throws {
        let text = String(repeating: "x", count: length)
        try await withScene(answering: { _ in ScriptedOrigin.Answer(200, text) }) { scene, coordinator in
            let body = try await coordinator.send(Request(scene.origin.url("/"))).body
            #expect(Data(body) == Data(text.utf8))
        }
    }

    @Test("an error's description for people is its own text")
    func errors() {
        let error: any Error = FetchError(.timeout, "nothing came for 60 s")
        #expect(error.localizedDescription == "timeout: nothing came for 60 s")
        #expect(FetchError(.cancelled, "").errorDescription == "cancelled")
    }
}
