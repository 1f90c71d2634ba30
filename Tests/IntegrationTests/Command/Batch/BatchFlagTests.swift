import Foundation
import Testing

/// What options of the run and members of lines mean for the requests that are sent.
@Suite("trawl batch, what is sent", .serialized, .timeLimit(.minutes(2)))
struct BatchFlagTests {
    private func seen(_ bed: BatchBed, line: Int) throws -> SeenRequest {
        try JSONDecoder().decode(SeenRequest.self, from: Data(bed.directory.content("out/\(line)") ?? []))
    }

    private func base64(_ text: String) -> String { Data(text.utf8).base64EncodedString() }

    @Test("options count for every request, and what a line says counts more")
    func requests() async throws {
        let bed = try BatchBed()
        try await withOrigin { origin in
            let url = "http://some.example:\(origin.port)/anything?n="
            let own = #""method":"PUT","headers":[["x-run","mine"],["X-Own","1"],["X-Own","2"]],"body":"h\u00e9""#
            try bed.putList([
                url + "1", "{\"url\":\"\(url)2\",\(own)}", "{\"url\":\"\(url)3\",\"body_base64\":\"AAE=\"}",
            ])
            let run = try bed.run([
                "-H", "X-Run: yours", "-A", "tester/1", "-e", "http://from.example/", "-X", "PATCH", "-d", "a=1",
                "--resolve", "some.example:\(origin.port):127.0.0.1", "-o", "{line}",
            ])
            #expect(run.status == 0, "\(run.errors)")
            let requests = try (1...3).map { try seen(bed, line: $0) }
            for (index, request) in requests.enumerated() {
                #expect(request.target == "/anything?n=\(index + 1)")
                #expect(request.value("Host") == "some.example:\(origin.port)")
                #expect(request.value("User-Agent") == "tester/1")
                #expect(request.value("Referer") == "http://from.example/")
            }
            #expect(requests.map(\.method) == ["PATCH", "PUT", "PATCH"])
            #expect(requests.map(\.body) == [base64("a=1"), base64("h\u{E9}"), "AAE="])
            #expect(requests.map { $0.values("X-Run") } == [["yours"], ["mine"], ["yours"]])
            #expect(requests.map { $0.values("X-Own") } == [[], ["1", "2"], []])
            #expect(requests[0].value("Content-Type") == "application/x-www-form-urlencoded")
        }
    }

    @Test(
        "a line with a body is GET unless it or the run says otherwise; -d and --json say POST, of such lines too",
        arguments: [
            ([], ["GET", "GET", "PUT"]), (["-d", "a=1"], ["POST", "POST", "PUT"]),
            (["--json", "{}"], ["POST", "POST", "PUT"]), (["-X", "PATCH"], ["PATCH", "PATCH", "PUT"]),
            (["-d", "a=1", "-X", "PATCH"], ["PATCH", "PATCH", "PUT"]),
        ] as [([String], [String])])
    func methods(options: [String], expected: [String]) async throws {
        let bed = try BatchBed()
        try await withOrigin { origin in
            let url = origin.url("/anything?n=")
            try bed.putList([
                "{\"url\":\"\(url)1\",\"body\":\"h\"}", "{\"url\":\"\(url)2\",\"body_base64\":\"aA==\"}",
                "{\"url\":\"\(url)3\",\"method\":\"PUT\",\"body\":\"h\"}",
            ])
            let run = try bed.run(options + ["-o", "{line}"])
            #expect(run.status == 0, "\(run.errors)")
            let requests = try (1...3).map { try seen(bed, line: $0) }
            #expect(requests.map(\.method) == expected)
            #expect(requests.map(\.body) == Array(repeating: base64("h"), count: 3))
        }
    }

    @Test("a line's auth answers in the place of the run's Authorization, and its Cookie stands in that of -b")
    func who() throws {
        let basic = ChallengingOrigin.basic("me", "secret")
        let taking = ChallengingOrigin.taking(basic)
        let origin = try ScriptedOrigin { seen in
            seen.target.hasPrefix("/auth") ? taking(seen) : ScriptedOrigin.Answer(200, "there")
        }
        defer { origin.stop() }
        let auth = #""auth":{"username":"me","password":"secret"}"#
        func lines(_ name: String) -> [String] {
            [
                "{\"url\":\"\(origin.url("/auth/\(name)"))\",\(auth)}",
                "{\"url\":\"\(origin.url("/own/\(name)"))\",\(auth),\"headers\":[[\"Authorization\",\"Bearer L\"]]}",
                "{\"url\":\"\(origin.url("/cookie/\(name)"))\",\"headers\":[[\"cookie\",\"sid=1\"]]}",
                "{\"url\":\"\(origin.url("/run/\(name)"))\"}",
            ]
        }
        let options = ["-H", "Authorization: Bearer R", "-b", "sid=0; lang=en", "--no-cache"]
        let bed = try BatchBed()
        try bed.putList(lines("batch"))
        let batch = try bed.run(options)
        #expect(batch.status == 0, "\(batch.errors)")
        #expect(try bed.records().map(\.status) == [200, 200, 200, 200])
        let pipe = try CommandRun(["pipe"] + options, input: lines("pipe").map { $0 + "\n" }.joined())
        #expect(pipe.status == 0, "\(pipe.errors)")
        for name in ["batch", "pipe"] {
            func values(_ field: String, _ target: String) -> [String?] {
                origin.seen("/\(target)/\(name)").map { $0.fields[field] }
            }
            #expect(values("authorization", "auth") == [nil, basic])
            #expect(values("authorization", "own") == ["Bearer L"])
            #expect(values("authorization", "run") == ["Bearer R"])
            #expect(values("cookie", "cookie") == ["sid=1"])
            #expect(values("cookie", "run") == ["sid=0; lang=en"])
        }
    }

    @Test("a body above --max-filesize is a failure and no file, and so is a scheme that --proto leaves out")
    func limits() async throws {
        let bed = try BatchBed()
        try await withOrigin { origin in
            try bed.putList([origin.url("/bytes/1000"), origin.url("/bytes/10")])
            let run = try bed.run(["--max-filesize", "500", "-o", "{line}"])
            #expect(run.status == 1, "\(run.errors)")
            let records = try bed.records().sorted { ($0.line ?? 0) < ($1.line ?? 0) }
            #expect(records.map(\.isFetched) == [false, true] && records.map(\.code) == ["too_large", nil])
            #expect(try bed.files() == ["2"])
            let other = try BatchBed()
            try other.putList([origin.url("/bytes/10")])
            #expect(try other.run(["--proto", "=https"]).status == 1)
            #expect(try other.records().map(\.code) == ["unsupported_url"])
            #expect(try other.files().isEmpty && origin.log(prefix: "/bytes").count == 2)
        }
    }
}
