import Testing
import Trawl

/// A worker learns an origin by the first request to it; from the second on it hands libcurl parts of what is sent.
@Suite("The bytes of a request do not depend on those before it")
struct RequestBytesTests {
    /// Sends a request three times, the first of them to an origin that nothing is known of.
    private func heads(_ request: Request) async throws -> [String] {
        let origin = try ScriptedOrigin { _ in .init(200, "") }
        defer { origin.stop() }
        var request = request
        request.url = request.url.replacing("HOST", with: "127.0.0.1:\(origin.port)").replacing(
            "NAME", with: "localhost:\(origin.port)")
        try await withTestCoordinator(workers: 0) { coordinator in
            for _ in 0..<3 { _ = try await coordinator.send(request) }
        }
        return origin.seen().map { String(decoding: $0.head, as: UTF8.self) }
    }

    @Test(
        "paths and queries go out as they stand", .timeLimit(.minutes(2)),
        arguments: [
            "/", "/?", "/a/b.html?c=d&e", "/%2f%2F%41%zz", "//a//b/", "/;p=1,(x)'~!$*:@[]{}|^`\"<>\\", "/a?x=/y?z//%20",
            "/ a b", "/ü?ü", "/..%2f./%2e", "/a#b?c", "?q", "",
        ])
    func targets(target: String) async throws {
        for host in ["HOST", "NAME"] {
            let heads = try await heads(Request("http://\(host)\(target)"))
            #expect(heads.count == 3 && Set(heads).count == 1, "\(heads)")
        }
    }

    static let requests: [(title: String, change: @Sendable (inout Request) -> Void)] = [
        ("a Host of its own", { $0.fields.set("Host", "other.example") }),
        ("an empty field", { $0.fields.add("X-Empty", "") }),
        ("nothing generated", { $0.options.omittedFields = ["User-Agent", "Accept", "Accept-Encoding"] }),
        (
            "fields of many kinds",
            {
                $0.fields.add("Cookie", "a=b; c=d")
                $0.fields.add("accept", "text/plain")
                $0.fields.add("Authorization", "Basic eDp5")
                $0.fields.add("X-Empty", "")
                $0.fields.add("Range", "bytes=0-")
                $0.fields.add("Connection", "keep-alive")
            }
        ),
        ("HEAD", { $0.method = .head }),
        (
            "a body",
            {
                $0.method = .post
                $0.body = .bytes(Array("body".utf8))
            }
        ),
        (
            "a body with a type",
            {
                $0.method = .put
                $0.body = .bytes(Array("body".utf8))
                $0.fields.set("Content-Type", "text/plain")
            }
        ),
    ]

    @Test("so do methods, fields and bodies", .timeLimit(.minutes(2)), arguments: requests.map(\.title))
    func fields(title: String) async throws {
        let (_, change) = try #require(Self.requests.first { $0.title == title })
        var request = Request("http://HOST/a?b")
        change(&request)
        let heads = try await heads(request)
        #expect(heads.count == 3 && Set(heads).count == 1, "\(heads)")
    }
}
