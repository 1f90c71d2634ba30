import Testing
import Trawl

@Suite("Who answers, where that is not the URL's host for all", .timeLimit(.minutes(3)))
struct CachePartitionTests {
    @Test("another Host than the URL's is not cached")
    func otherHosts() async throws {
        try await withScene { request in
            page(request.fields["host"] ?? "", to: request)
        } _: { scene, coordinator in
            let url = scene.origin.url("/page")
            let own = String(url.dropFirst(7).dropLast(5))
            for host in ["a.example", "b.example", "a.example"] {
                let response = try await coordinator.get(url, fields: ["Host": host])
                #expect(summary(response) == "network 200 \(host)")
            }
            let first = try await coordinator.get(url)
            #expect(summary(first) == "network 200 \(own)")
            let named = try await coordinator.get(url, fields: ["Host": own])
            #expect(summary(named) == "cache 200 \(own)")
        }
    }

    @Test("a change at another Host than the URL's leaves what is stored", arguments: Engine.allCases)
    func changesElsewhere(engine: Engine) async throws {
        try await withScene(engine) { request in
            let fields = [("Location", "/page"), ("Clear-Site-Data", "\"cache\"")]
            return request.method == "PUT" ? ScriptedOrigin.Answer(200, "", fields) : page("one", to: request)
        } _: { scene, coordinator in
            let url = scene.origin.url("/page")
            let own = String(url.dropFirst(7).dropLast(5))
            let first = try await coordinator.get(url)
            #expect(summary(first) == "network 200 one")
            for (host, source) in [("b.example", "cache"), (own, "network")] {
                var put = Request(.put, url, body: .text("x"))
                put.fields["Host"] = host
                _ = try await coordinator.send(put)
                let response = try await coordinator.get(url)
                #expect(summary(response) == "\(source) 200 one", "\(host)")
            }
        }
    }

    @Test(
        "what the server says to somebody's cookies leaves what is stored to those who have none",
        arguments: Engine.allCases, [Request.Method.get, .head])
    func cookies(engine: Engine, method: Request.Method) async throws {
        try await withScene(engine) { request in
            let name = request.fields["cookie"]
            return page("one", "max-age=60", to: request, name.map { [("X-Name", $0)] } ?? [])
        } _: { scene, coordinator in
            let url = scene.origin.url("/page")
            let first = try await coordinator.get(url)
            #expect(summary(first) == "network 200 one")
            var asking = Request(method, url)
            asking.fields = ["Cookie": "a=1", "Cache-Control": "no-cache"]
            for _ in 0..<2 {
                let own = try await coordinator.send(asking)
                #expect(own.source == (method == .get ? .revalidated : .network) && own.fields["X-Name"] == "a=1")
            }
            let others = try await coordinator.get(url)
            #expect(summary(others) == "cache 200 one" && others.fields["X-Name"] == nil)
            #expect(scene.count == 3)
        }
    }

    @Test("names that lead elsewhere in clear have stored responses of their own, whatever public says")
    func routes() async throws {
        try await withScene { request in
            page("one", request.target == "/public" ? "public, max-age=60" : "max-age=60", to: request)
        } _: { scene, coordinator in
            func get(_ url: String, _ source: String, _ routes: (inout RequestOptions.Transport) -> Void) async throws {
                let response = try await coordinator.get(url) { routes(&$0.transport) }
                #expect(summary(response) == "\(source) 200 one")
            }
            let url = scene.origin.url("/page")
            let port = url.dropFirst(7).dropLast(5).split(separator: ":")[1]
            try await get(url, "network") { _ in }
            // Routes for others do not concern it.
            let site = "http://site.example:\(port)/page"
            try await get(url, "cache") { $0.resolve = ["site.example:\(port):127.0.0.1"] }
            try await get(site, "network") { $0.resolve = ["site.example:\(port):127.0.0.1"] }
            try await get(site, "cache") { $0.resolve = ["*:\(port):127.0.0.1"] }
            try await get(site, "cache") { $0.connectTo = ["SITE.example::127.0.0.1:\(port)"] }
            try await get(site, "network") { $0.connectTo = ["site.example::localhost:\(port)"] }
            try await get(scene.origin.url("/public"), "network") { _ in }
            try await get(scene.origin.url("/public"), "network") {
                $0.connectTo = ["127.0.0.1:\(port):localhost:\(port)"]
            }
            try await get(scene.origin.url("/public"), "cache") { _ in }
            try await get(scene.origin.url("/public"), "cache") {
                $0.connectTo = ["127.0.0.1:\(port):localhost:\(port)"]
            }
        }
    }

    @Test("what was stored with credentials answers those who have them", arguments: Engine.allCases)
    func credentials(engine: Engine) async throws {
        try await withScene(engine) {
            page($0.fields["authorization"] ?? "nobody", to: $0)
        } _: { scene, coordinator in
            let url = scene.origin.url("/page")
            for (name, source) in [("a", "network"), ("a", "cache"), ("b", "network"), ("b", "cache")] {
                let response = try await coordinator.get(url, fields: ["Authorization": name])
                #expect(summary(response) == "\(source) 200 \(name)")
            }
            #expect(try await coordinator.get(url).bodyText == "nobody")
        }
    }

    @Test("what was answered to one cookie is not for another, unless the server says so")
    func ownCookies() async throws {
        try await withScene { request in
            let control = request.target == "/open" ? "public, max-age=60" : "max-age=60"
            return page(request.fields["cookie"] ?? "none", control, to: request)
        } _: { scene, coordinator in
            for (path, texts) in [("/own", ["a=1", "a=2", "none", "a=1"]), ("/open", ["a=1", "a=1", "a=1", "a=1"])] {
                let url = scene.origin.url(path)
                for (cookie, text) in zip(["a=1", "a=2", nil, "a=1"], texts) {
                    let response = try await coordinator.get(url, fields: cookie.map { ["Cookie": $0] } ?? [:])
                    #expect(response.bodyText == text, "\(path) \(cookie ?? "-")")
                }
            }
            #expect(scene.targets == ["/own", "/own", "/own", "/open"])
        }
    }
}
