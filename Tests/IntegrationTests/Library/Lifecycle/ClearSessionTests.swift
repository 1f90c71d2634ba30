import Foundation
import Testing
import Trawl

/// ASI-AUTH-20.
@Suite("Clearing a session, ASI-AUTH-20, ASI-COOK-04", .timeLimit(.minutes(2)))
struct ClearSessionTests {
    private static let right = ChallengingOrigin.basic("me", "pass")
    private static let jars: [RequestOptions.Cookies.Jar] = [.shared, .named("own"), .memory("mine")]

    @Test(
        "cookies of the session are forgotten in all jars; older ones and those of others stay",
        arguments: Engine.allCases)
    func cookies(engine: Engine) async throws {
        try await withScene { request in
            let fields = [
                ("Set-Cookie", "\(request.target.dropFirst())=1; Max-Age=600"), ("Cache-Control", "no-store"),
            ]
            return ScriptedOrigin.Answer(200, request.fields["cookie"] ?? "none", fields)
        } _: { scene in
            try await scene.withCoordinator(engine) { before in
                _ = try await before.get(scene.origin.url("/old"))
            }
            try await scene.withCoordinator(engine) { coordinator in
                try await scene.withCoordinator(.inProcess) { other in
                    for jar in Self.jars {
                        _ = try await coordinator.get(scene.origin.url("/mine")) { $0.cookies.jar = jar }
                    }
                    _ = try await other.get(scene.origin.url("/other"))
                    #expect(try coordinator.cookies.cookies().map(\.name) == ["old", "mine", "other"])
                    try await coordinator.clearSession()
                    #expect(try other.cookies.cookies().map(\.name) == ["old", "other"])
                    for jar in Self.jars.dropFirst() { #expect(try coordinator.cookies(in: jar).cookies().isEmpty) }
                    var options = RequestOptions()
                    options.cookies.accepts = .never
                    let said = try await all((1...8).map { scene.origin.url("/after\($0)") }, coordinator, options)
                    #expect(said == ["network 200 old=1; other=1"])
                }
            }
        }
    }

    @Test(
        "responses of the session are forgotten in all its caches; those kept for good stay", arguments: Engine.allCases
    )
    func responses(engine: Engine) async throws {
        try await withScene(engine) {
            page("one", to: $0)
        } _: { scene, coordinator in
            let urls = (1...8).map { scene.origin.url("/page\($0)") }
            var kept = RequestOptions()
            kept.caching.storage = .permanent
            _ = try await coordinator.send(Request(scene.origin.url("/kept"), options: kept))
            for cache in [RequestOptions.Caching.Choice.shared, .at(scene.directory.file("second"))] {
                var options = RequestOptions()
                options.caching.storage = .session
                options.caching.cache = cache
                for source in ["network", "cache"] {
                    #expect(try await all(urls, coordinator, options) == ["\(source) 200 one"])
                }
                try await coordinator.clearSession()
                // The session goes on, and so what is stored for it now.
                for source in ["network", "cache"] {
                    #expect(try await all(urls, coordinator, options) == ["\(source) 200 one"])
                }
            }
            try await coordinator.clearSession()
            #expect(try coordinator.cache?.usage().responses == 1)
            #expect(try await coordinator.get(scene.origin.url("/kept")).source == .cache)
        }
    }

    @Test("what worked at a server is not sent any more", arguments: Engine.allCases)
    func credentials(engine: Engine) async throws {
        try await withScene(engine, answering: ChallengingOrigin.taking(Self.right)) { scene, coordinator in
            var options = RequestOptions()
            options.caching.cache = .none
            options.authentication.allowsClearText = true
            options.authentication.credential = Credential(user: "me", password: "pass")
            _ = try await coordinator.send(Request(scene.origin.url("/a"), options: options))
            options.authentication.credential = nil
            let urls = (1...8).map { _ in scene.origin.url("/b") }
            #expect(try await all(urls, coordinator, options) == ["network 200 welcome /b"])
            #expect(await coordinator.credentials.list().count == 1)
            try await coordinator.clearSession()
            #expect(await coordinator.credentials.list().isEmpty)
            let before = scene.count
            #expect(try await all(urls, coordinator, options) == ["network 401 who?"])
            #expect(scene.origin.seen().dropFirst(before).allSatisfy { $0.fields["authorization"] == nil })
        }
    }

    @Test("what worked at a proxy is not sent any more")
    func proxies() async throws {
        let proxy = try ChallengingProxy(ChallengingProxy.taking(Self.right))
        defer { proxy.stop() }
        try await withTestCoordinator { coordinator in
            var policy = ProxyPolicy(try Proxy(proxy.place))
            policy.setUser("me", password: "pass")
            var request = Request("http://origin.test/x")
            request.options.proxy = policy
            #expect(try await coordinator.send(request).status == 200)
            #expect(await coordinator.credentials.list().map(\.space.isProxy) == [true])
            try await coordinator.clearSession()
            #expect(await coordinator.credentials.list().isEmpty)
            request.options.proxy = ProxyPolicy(try Proxy(proxy.place))
            let before = proxy.seen().count
            let response = try? await coordinator.send(request)
            #expect(response?.status != 200)
            #expect(proxy.seen().count > before && proxy.seen().dropFirst(before).allSatisfy { $0.credentials == nil })
        }
    }

    @Test("a cache of the program's own is told")
    func ownCache() async throws {
        let cache = MemoryCache()
        try await withScene(.inProcess, adjust: { $0.downloadCache = cache }) {
            page("one", to: $0)
        } _: { scene, coordinator in
            for storage in [RequestOptions.Caching.Storage.session, .permanent] {
                _ = try await coordinator.get(scene.origin.url("/\(storage)")) { $0.caching.storage = storage }
            }
            #expect(cache.count == 2)
            try await coordinator.clearSession()
            #expect(cache.count == 1)
            #expect(cache.entries(under: scene.origin.url("/permanent")).count == 1)
        }
    }

    @Test("it may be done at any time, and where nothing is kept")
    func nothing() async throws {
        let coordinator = try Coordinator(testConfiguration(workers: 0))
        try await coordinator.clearSession()
        await coordinator.shutdown()
        try await coordinator.clearSession()
    }

    /// What fetches at once come to, without their order.
    private func all(
        _ urls: [String], _ coordinator: Coordinator, _ options: RequestOptions
    ) async throws -> Set<String> {
        try await withThrowingTaskGroup(of: String.self) { group in
            for url in urls {
                group.addTask { summary(try await coordinator.send(Request(url, options: options))) }
            }
            var found: Set<String> = []
            for try await text in group { found.insert(text) }
            return found
        }
    }
}
