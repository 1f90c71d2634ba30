import Testing
import Trawl

@Suite("Redirects are followed by rule, ASI-RED-01 to 07, 09", .bed())
struct RedirectTests {
    static let references: [(location: String, leadsTo: String)] = [
        ("/anything?x=1", "/anything?x=1"), ("anything", "/anything"), ("./anything", "/anything"),
        ("../anything", "/anything"), ("/a/../anything", "/anything"), ("?url=/anything", "/anything"),
        ("/anything/%41%2Fb", "/anything/%41%2Fb"), ("/anything#new", "/anything#new"),
    ]

    @Test(
        "relative references are resolved against the current URL", .timeLimit(.minutes(3)),
        arguments: references.map(\.location))
    func relative(location: String) async throws {
        let bed = try Bed.current
        let wanted = try #require(Self.references.first { $0.location == location }).leadsTo
        for engine in Engine.allCases {
            let response = try await bed.get("/redirect-to?url=" + location.percentEncoded, on: engine)
            #expect(response.url == bed.url(wanted))
            let path = wanted.prefix { $0 != "#" }
            #expect(try response.seen().target == path)
        }
    }

    @Test("a reference without a scheme keeps the scheme", .timeLimit(.minutes(3)))
    func schemeRelative() async throws {
        let bed = try Bed.current
        let location = "//127.0.0.2:\(bed.origin.port)/anything"
        let response = try await bed.get("/redirect-to?url=" + location.percentEncoded)
        #expect(response.url == "http:" + location)
    }

    @Test("the fragment stays when the redirect has none", .timeLimit(.minutes(3)))
    func fragments() async throws {
        let bed = try Bed.current
        #expect(try await bed.get("/redirect/3#old").url == bed.url("/anything#old"))
        #expect(try await bed.get("/redirect-to?url=/anything%23new#old").url == bed.url("/anything#new"))
    }

    /// The method of the second hop, by RFC 9110 §15.4.
    private func expected(_ method: String, _ status: Int, _ mode: RequestOptions.Redirects.Mode) -> String {
        switch (status, mode) {
        case (301, .standard), (302, .standard): method == "POST" ? "GET" : method
        case (303, .standard), (303, .preserve): method == "HEAD" ? "HEAD" : "GET"
        case (301, .classic), (302, .classic), (303, .classic): "GET"
        default: method
        }
    }

    @Test(
        "method and body go along or not, by status, method and mode", .timeLimit(.minutes(3)),
        arguments: [301, 302, 303, 307, 308],
        [RequestOptions.Redirects.Mode.standard, .classic, .preserve])
    func matrix(status: Int, mode: RequestOptions.Redirects.Mode) async throws {
        let bed = try Bed.current
        for method in ["GET", "HEAD", "POST", "PUT", "DELETE", "PATCH"] {
            let mark = "/anything?matrix=\(status)\(mode.rawValue)\(method)"
            let hasBody = method != "GET" && method != "HEAD"
            var request = Request(
                Request.Method(method), bed.url("/redirect-to?status=\(status)&url=\(mark.percentEncoded)"),
                body: hasBody ? .text("hello") : .none)
            request.options.redirects.mode = mode
            if hasBody { request.fields.add("Content-Type", "text/plain") }
            request.fields.add("X-Kept", "yes")
            let response = try await bed.coordinator.send(request)
            let wanted = expected(method, status, mode)
            let keepsBody = hasBody && wanted == method
            #expect(response.redirects.map(\.status) == [status])
            let log = try bed.origin.log(prefix: mark)
            #expect(log.map(\.method) == [wanted], "\(method) \(status) \(mode)")
            guard wanted != "HEAD" else { continue }
            let seen = try response.seen()
            #expect(seen.bodyLength == (keepsBody ? 5 : 0), "\(method) \(status) \(mode)")
            #expect(seen.value("content-type") == (keepsBody ? "text/plain" : nil), "\(method) \(status) \(mode)")
            #expect(seen.value("x-kept") == "yes")
        }
    }

    @Test(
        "in manual mode the redirect is the answer, with its body", .timeLimit(.minutes(3)),
        arguments: [301, 302, 303, 307, 308])
    func manual(status: Int) async throws {
        let bed = try Bed.current
        let response = try await bed.get("/redirect-to?url=/anything&status=\(status)&body=page") {
            $0.redirects.mode = .manual
        }
        #expect(response.status == status)
        #expect(response.bodyText == "page")
        #expect(response.fields["Location"] == "/anything")
        #expect(response.redirects.isEmpty)
    }

    @Test(
        "300, 304, 305, 306 and other 3xx are answers", .timeLimit(.minutes(3)), arguments: [300, 304, 305, 306, 399])
    func neverFollowed(status: Int) async throws {
        let bed = try Bed.current
        #expect(try await bed.get("/redirect-to?url=/anything&status=\(status)").status == status)
    }

    @Test("a redirect without Location is the answer", .timeLimit(.minutes(3)))
    func noLocation() async throws {
        let bed = try Bed.current
        let response = try await bed.get("/status/302?body=page")
        #expect(response.status == 302)
        #expect(response.bodyText == "page")
    }

    @Test(
        "a redirect with an empty Location is the answer, with its body", .timeLimit(.minutes(3)),
        arguments: [302, 307], Engine.allCases)
    func emptyLocation(status: Int, engine: Engine) async throws {
        let origin = try ScriptedOrigin { _ in ScriptedOrigin.Answer(status, "page", [("Location", "")]) }
        defer { origin.stop() }
        let response = try await Bed.current.coordinator(engine).send(
            Request(.post, origin.url("/"), body: .text("once")))
        #expect(response.status == status && response.bodyText == "page" && response.redirects.isEmpty)
        #expect(origin.seen().count == 1)
    }

    @Test(
        "a redirect whose body breaks off is followed", .timeLimit(.minutes(3)),
        arguments: ["Content-Length: 99\r\n\r\nno", "Transfer-Encoding: chunked\r\n\r\n9\r\nno"], Engine.allCases)
    func brokenBody(rest: String, engine: Engine) async throws {
        let peer = try ScriptedPeer { connection, _ in
            while let head = connection.readHead() {
                guard head.hasPrefix("GET /there ") else {
                    connection.send("HTTP/1.1 302 Found\r\nLocation: /there\r\n" + rest)
                    return
                }
                connection.send("HTTP/1.1 200 Fine\r\nContent-Length: 5\r\n\r\nthere")
            }
        }
        defer { peer.stop() }
        let coordinator = try Bed.current.coordinator(engine)
        let url = "http://\(peer.place)/"
        let response = try await coordinator.send(Request(url))
        #expect(response.bodyText == "there" && response.redirects.map(\.status) == [302])
        // Where it is the answer its body is wanted.
        var manual = Request(url)
        manual.options.redirects.mode = .manual
        await failure(.truncated) { try await coordinator.send(manual) }
    }

    @Test(
        "a Location that is no ASCII, or has spaces, leads to the bytes that came", .timeLimit(.minutes(3)),
        arguments: [
            (Array("/caf".utf8) + [0xE9], "/caf%E9"), (Array("/a b?c d\u{e9}+".utf8), "/a%20b?c%20d%C3%A9+"),
        ] as [([UInt8], String)])
    func bytesOfLocation(location: [UInt8], target: String) async throws {
        let origin = try ScriptedOrigin { seen in
            guard seen.target == "/" else { return ScriptedOrigin.Answer(200, "there") }
            var answer = ScriptedOrigin.Answer(302)
            answer.lines = [Array("Location: ".utf8) + location]
            return answer
        }
        defer { origin.stop() }
        let response = try await Bed.current.coordinator.send(Request(origin.url("/")))
        #expect(response.bodyText == "there")
        #expect(origin.seen().map(\.target) == ["/", target])
    }

    @Test("307 and 308 send a body of 5 MiB again", .timeLimit(.minutes(3)), arguments: [307, 308], Engine.allCases)
    func largeBody(status: Int, engine: Engine) async throws {
        let bed = try Bed.current
        let bytes = ReferenceBytes.bytes(5 << 20, seed: 9)
        let request = Request(.post, bed.url("/redirect-to?url=/echo&status=\(status)"), body: .bytes(bytes))
        let response = try await bed.coordinator(engine).send(request)
        #expect(response.status == 200)
        #expect(response.body.bytes == bytes)
    }

    @Test("the limit is exact", .timeLimit(.minutes(3)), arguments: Engine.allCases)
    func limit(engine: Engine) async throws {
        let bed = try Bed.current
        #expect(try await bed.get("/redirect/20", on: engine).redirects.count == 20)
        await failure(.tooManyRedirects) { try await bed.get("/redirect/21", on: engine) }
        #expect(try await bed.get("/redirect/3", on: engine) { $0.redirects.limit = 3 }.redirects.count == 3)
        await failure(.tooManyRedirects) { try await bed.get("/redirect/4", on: engine) { $0.redirects.limit = 3 } }
        await failure(.tooManyRedirects) { try await bed.get("/redirect/1", on: engine) { $0.redirects.limit = 0 } }
        let asi = Request(bed.url("/redirect/5"), options: .asi)
        #expect(try await bed.coordinator(engine).send(asi).redirects.count == 5)
        await failure(.tooManyRedirects) {
            try await bed.coordinator(engine).send(Request(bed.url("/redirect/6"), options: .asi))
        }
    }

    @Test("circles end at the limit", .timeLimit(.minutes(3)), arguments: ["/redirect-loop", "/redirect-circle/a"])
    func circle(target: String) async throws {
        let bed = try Bed.current
        let error = await failure(.tooManyRedirects) { try await bed.get(target) }
        #expect(error?.legacyCode == 9)
        #expect(error?.urlErrorCode == -1007)
    }

    @Test(
        "a redirect to another scheme, or to none that makes sense, is refused", .timeLimit(.minutes(3)),
        arguments: [
            "ftp://127.0.0.1/x", "file:///etc/passwd", "gopher://127.0.0.1/", "javascript:alert(1)", "data:,x",
            "http://", "http://[::bad/", "https://127.0.0.1:99999/",
        ])
    func refused(location: String) async throws {
        let bed = try Bed.current
        let error = await failure(.redirectRefused) {
            try await bed.get("/redirect-to?url=" + location.percentEncoded)
        }
        #expect(error?.isRetryable == false)
    }

    @Test("a scheme that is not allowed is refused as a redirect too", .timeLimit(.minutes(3)))
    func schemeNotAllowed() async throws {
        let bed = try Bed.current
        await failure(.redirectRefused) {
            try await bed.get("/redirect-to?url=https://127.0.0.1:1/") { $0.transport.allowsHTTPS = false }
        }
    }

    @Test(
        "secrets and hand-set cookies stay with the origin they were set for", .timeLimit(.minutes(3)),
        arguments: [302, 307])
    func secrets(status: Int) async throws {
        let bed = try Bed.current
        func redirected(to location: String) async throws -> SeenRequest {
            var request = Request(bed.url("/redirect-to?status=\(status)&url=" + location.percentEncoded))
            request.fields.add("Authorization", "Basic c2VjcmV0")
            request.fields.add("Proxy-Authorization", "Basic c2VjcmV0")
            request.fields.add("Cookie", "secret=1")
            request.fields.add("X-Plain", "kept")
            return try await bed.coordinator.send(request).seen()
        }
        let same = try await redirected(to: "/anything")
        #expect(same.value("authorization") == "Basic c2VjcmV0")
        #expect(same.values("cookie").isEmpty)
        let other = try await redirected(to: bed.url("/anything", address: 2))
        #expect(other.value("host") == "127.0.0.2:\(bed.origin.port)")
        #expect(other.values("authorization").isEmpty)
        #expect(other.values("proxy-authorization").isEmpty)
        #expect(other.values("cookie").isEmpty)
        #expect(other.value("x-plain") == "kept")
        // Back at the first origin they stay away: the second one has no say over them.
        let location = bed.url("/redirect-to?url=" + bed.url("/anything").percentEncoded, address: 2)
        let back = try await redirected(to: location)
        #expect(back.values("authorization").isEmpty)
    }

    @Test("the user information of a Location is ignored", .timeLimit(.minutes(3)))
    func userInformation() async throws {
        let bed = try Bed.current
        let location = "http://user:secret@127.0.0.1:\(bed.origin.port)/anything"
        let response = try await bed.get("/redirect-to?url=" + location.percentEncoded)
        #expect(try response.seen().values("authorization").isEmpty)
        #expect(!response.url.contains("secret"))
        #expect(response.redirects.allSatisfy { !$0.location.contains("secret") })
    }

    @Test("only the final body is in the file (ASI-DL-06)", .timeLimit(.minutes(3)))
    func bodyOfRedirect() async throws {
        let bed = try Bed.current
        for path in [bed.outputDirectory + "/redirected", bed.directory.file("redirected")] {
            let response = try await bed.get(
                "/redirect-to?body=moved%20away&url=/bytes/1000", into: .file(path))
            #expect(response.file == path)
            let name = String(path.dropFirst(bed.directory.path.count + 1))
            #expect(bed.directory.content(name) == ReferenceBytes.bytes(1000))
        }
        let fetch = bed.coordinator.start(
            Request(bed.url("/redirect-to?body=moved%20away&url=/bytes/1000")), into: .stream)
        #expect(try await readStream(fetch) == ReferenceBytes.bytes(1000))
    }
}
