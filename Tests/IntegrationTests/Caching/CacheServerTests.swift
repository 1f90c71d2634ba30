import Foundation
import Testing
import Trawl

/// A server that is not ours, asked over and over; what it saw is in its own log.
@Suite(
    "The cache in front of nginx, ASI-CACHE-04, 05, 08, 20, 22, POOL-07", .timeLimit(.minutes(5)),
    .enabled(if: NginxServer.executable != nil, NginxServer.missing))
struct CacheServerTests {
    @Test("asks again when what it has is stale, and is told 304", arguments: Engine.allCases)
    func stale(engine: Engine) async throws {
        try await with(engine) { coordinator, site in
            let url = site.url("/short/page.html")
            #expect(try await coordinator.get(url).source == .network)
            #expect(try await coordinator.get(url).source == .cache)
            #expect(try await eventually { try await coordinator.get(url).source == .revalidated })
            let again = try await coordinator.get(url)
            #expect(again.status == 200)
            #expect(again.body.bytes == Site.page)
            await site.expectLog("/short/page.html", begins: ["GET 200", "GET 304"])
        }
    }

    @Test("asks each time when told to, and loads anew when told to")
    func asks() async throws {
        try await with { coordinator, site in
            let url = site.url("/long/page.html")
            _ = try await coordinator.get(url)
            for _ in 0..<2 { #expect(try await coordinator.get(url, .askServerIfModified).source == .revalidated) }
            for _ in 0..<2 { #expect(try await coordinator.get(url, .doNotRead).source == .network) }
            #expect(try await coordinator.get(url).source == .cache)
            await site.expectLog("/long/page.html", is: ["GET 200", "GET 304", "GET 304", "GET 200", "GET 200"])
        }
    }

    @Test("answers with everything the server said, and goes on when it is gone", arguments: Engine.allCases)
    func same(engine: Engine) async throws {
        try await with(engine) { coordinator, site in
            let url = site.url("/long/page.html")
            let first = try await coordinator.get(url)
            let moved = try await coordinator.get(site.url("/moved"))
            #expect(moved.redirects.map(\.status) == [301])
            site.server.stop()
            for url in [url, site.url("/moved")] {
                let second = try await coordinator.get(url)
                #expect(second.source == .cache)
                #expect(second.body.bytes == first.body.bytes)
                #expect(second.head.status == first.head.status)
                #expect(second.head.reason == first.head.reason)
                #expect(second.head.version == first.head.version)
                for name in [
                    "Content-Type", "ETag", "Last-Modified", "Cache-Control", "Expires", "Content-Length", "Server",
                ] {
                    #expect(second.fields[name] == first.fields[name], "\(name)")
                }
            }
            await failure(.cannotConnect) { try await coordinator.get(url, .askServerIfModified) }
            let policy: CachePolicy = [.askServerIfModified, .fallBackToCacheIfLoadFails]
            let fallen = try await coordinator.get(url, policy)
            #expect(fallen.source == .stale && fallen.isFromCache, "it is fresh, but the server was to be asked")
        }
    }

    @Test(
        "finds nothing stored for a host whose name leads nowhere",
        .enabled(if: Resolver.knowsNobody, Resolver.missing), arguments: Engine.allCases)
    func nowhere(engine: Engine) async throws {
        try await with(engine) { coordinator, _ in
            let policy: CachePolicy = [.askServerIfModified, .fallBackToCacheIfLoadFails]
            await failure(.hostNotFound) { try await coordinator.get("http://nowhere.invalid/", policy) }
        }
    }

    @Test("keeps compressed answers as they came", arguments: Engine.allCases)
    func compressed(engine: Engine) async throws {
        try await with(engine) { coordinator, site in
            let url = site.url("/packed/page.html")
            let first = try await coordinator.get(url)
            #expect(first.isCompressed)
            let second = try await coordinator.get(url)
            #expect(second.source == .cache)
            #expect(second.isCompressed)
            #expect(second.body.bytes == Site.page)
            let raw = try await coordinator.get(url) { $0.contentDecoding = .off }
            #expect(raw.source == .cache)
            #expect(raw.body.bytes.count < Site.page.count)
            // nginx says Vary: Accept-Encoding.
            let plain = try await coordinator.get(url) { $0.acceptsCompressedResponses = false }
            #expect(plain.source == .network)
            #expect(!plain.isCompressed)
            #expect(plain.body.bytes == Site.page)
        }
    }

    @Test("sends one request for fifty at once, over eight workers")
    func coalesces() async throws {
        try await with(workers: 8) { coordinator, site in
            let url = site.url("/long/page.html")
            try await withThrowingTaskGroup(of: [UInt8].self) { group in
                for _ in 0..<50 { group.addTask { try await coordinator.get(url).body.bytes } }
                for try await body in group { #expect(body == Site.page) }
            }
            await site.expectLog("/long/page.html", is: ["GET 200"])
        }
    }

    private func with(
        _ engine: Engine = .workers, workers: Int? = nil, _ body: (Coordinator, Site) async throws -> Void
    ) async throws {
        let site = try await Site()
        defer { site.server.stop() }
        let directory = try TemporaryDirectory()
        try await withTestCoordinator(workers: workers ?? engine.workers) {
            $0.store = .directory(directory.file("store"))
        } _: {
            try await body($0, site)
        }
    }

    private struct Site {
        static let page = Array(String(repeating: "<p>A page of a site that seldom changes.</p>\n", count: 200).utf8)
        let server: NginxServer

        init() async throws {
            server = try await NginxServer { port, directory in
                try directory.put("page.html", Self.page)
                func place(_ name: String, _ more: String) -> String {
                    "location = /\(name)/page.html { alias \(directory.file("page.html")); \(more) }"
                }
                return """
                    http {
                        log_format seen '$request_method $status $uri';
                        access_log \(directory.file("access.log")) seen;
                        types { text/html html; }
                        server {
                            listen 127.0.0.1:\(port);
                            \(place("short", "expires 4s;"))
                            \(place("long", "expires 1h;"))
                            \(place("packed", "expires 1h; gzip on; gzip_vary on; gzip_types text/html; gzip_min_length 1;"))
                            location = /moved { expires 1h; return 301 /long/page.html; }
                        }
                    }
                    """
            }
        }

        func url(_ target: String) -> String { "http://127.0.0.1:\(server.port)\(target)" }

        /// Expects methods and statuses of the requests for a path. The server writes its log after it has answered.
        func expectLog(_ path: String, is wanted: [String], sourceLocation: SourceLocation = #_sourceLocation) async {
            let isSeen = await eventually { log(path) == wanted }
            #expect(isSeen, "\(log(path))", sourceLocation: sourceLocation)
        }

        /// Expects with what they begin.
        func expectLog(_ path: String, begins wanted: [String], sourceLocation: SourceLocation = #_sourceLocation) async
        {
            let isSeen = await eventually { log(path).starts(with: wanted) }
            #expect(isSeen, "\(log(path))", sourceLocation: sourceLocation)
        }

        private func log(_ path: String) -> [String] {
            String(decoding: server.directory.content("access.log") ?? [], as: UTF8.self).split(separator: "\n")
                .filter { $0.hasSuffix(" " + path) }.map { String($0.dropLast(path.count + 1)) }
        }
    }
}
