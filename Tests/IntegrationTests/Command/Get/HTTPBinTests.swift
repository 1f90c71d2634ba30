import Foundation
import Testing

/// What a server that knows nothing of this package sees of the command, and the command of it.
@Suite("trawl get and httpbin", .enabled(if: HTTPBin.canRun, HTTPBin.missing), .timeLimit(.minutes(5)))
struct HTTPBinTests {
    /// What `/anything` says of a request.
    private struct Seen: Decodable {
        let args: [String: String]
        let data: String
        let form: [String: String]
        let headers: [String: String]
        let method: String
    }

    private func seen(_ arguments: [String]) throws -> Seen {
        let run = try CommandRun(["get"] + arguments)
        #expect(run.status == 0, "\(run.errors)")
        return try JSONDecoder().decode(Seen.self, from: run.output)
    }

    @Test("methods, fields and bodies arrive as they were given")
    func requests() async throws {
        try await HTTPBin.with { server in
            let url = server.url("/anything?a=1&b=%C3%A9")
            let plain = try seen([url])
            #expect(plain.method == "GET" && plain.args == ["a": "1", "b": "é"] && plain.data.isEmpty)
            #expect(plain.headers["Accept"] == "*/*")
            let agent = try #require(plain.headers["User-Agent"])
            #expect(agent.hasPrefix("trawl/") && !agent.contains(" "))
            for method in ["POST", "PUT", "PATCH", "DELETE"] {
                let form = try seen(["-X", method, "-d", "x=1", "-d", "y=two%20words", url])
                #expect(form.method == method && form.form == ["x": "1", "y": "two words"], "\(method)")
            }
            let json = try seen(["--json", "{\"a\":[1,2]}", "-H", "X-Mine: é", "-A", "me", "-e", "http://r/", url])
            #expect(json.method == "POST" && json.data == "{\"a\":[1,2]}")
            #expect(json.headers["Content-Type"] == "application/json" && json.headers["Accept"] == "application/json")
            #expect(json.headers["User-Agent"] == "me" && json.headers["Referer"] == "http://r/")
            let bare = try seen(["-H", "Accept:", "-A", "", "-H", "X-Empty;", url])
            #expect(bare.headers["Accept"] == nil && bare.headers["User-Agent"] == nil && bare.headers["X-Empty"] == "")
        }
    }

    @Test("a file of options and one of field lines say the same as the command line")
    func files() async throws {
        try await HTTPBin.with { server in
            let directory = try TemporaryDirectory()
            try directory.put("fields", Array("X-One: 1\r\nX-Two: \t2 \nUser-Agent:\n".utf8))
            let options = """
                # how
                request = PUT
                data "a b=\\"c\\""
                -H @\(directory.file("fields"))
                url = \(server.url("/anything"))
                """
            try directory.put("options", Array(options.utf8))
            for arguments in [["-K", directory.file("options")], ["-sK\(directory.file("options"))"]] {
                let seen = try seen(arguments)
                #expect(seen.method == "PUT" && seen.form == ["a b": "\"c\""])
                #expect(seen.headers["X-One"] == "1" && seen.headers["X-Two"] == "2")
                #expect(seen.headers["User-Agent"] == nil)
            }
            let piped = try CommandRun(["-K", "-"], input: options)
            #expect(try JSONDecoder().decode(Seen.self, from: piped.output).method == "PUT", "\(piped.errors)")
            let wrong = try CommandRun(["-K", "-"], input: "\nmax-time = 1 2")
            #expect(wrong.status == 2 && wrong.errors == "trawl: standard input:2: a value with blanks needs quotes\n")
            #expect(try CommandRun(["-K", directory.file("none")]).status == 26)
        }
    }

    @Test(
        "content codings are undone with --compressed and left alone without", arguments: ["gzip", "deflate", "brotli"])
    func codings(name: String) async throws {
        try await HTTPBin.with { server in
            let decoded = try CommandRun(["get", "--compressed", server.url("/" + name)])
            let object = try JSONSerialization.jsonObject(with: decoded.output) as? [String: Any]
            #expect(object?["method"] as? String == "GET", "\(decoded.errors)")
            let asSent = try CommandRun(["get", server.url("/" + name)])
            #expect(asSent.status == 0 && asSent.output.count > 50 && asSent.output != decoded.output)
            #expect((try? JSONSerialization.jsonObject(with: asSent.output)) == nil)
        }
    }

    @Test("bodies that come in pieces are complete")
    func pieces() async throws {
        try await HTTPBin.with { server in
            let lines = try CommandRun(["get", server.url("/stream/100")])
            #expect(lines.status == 0 && lines.text.split(separator: "\n").count == 100)
            let drip = try CommandRun(["get", server.url("/drip?numbytes=20&duration=1&delay=0")])
            #expect(drip.text == String(repeating: "*", count: 20))
            let first = try CommandRun(["get", "-H", "Range: bytes=10-19", server.url("/range/1024")])
            #expect(first.text == "klmnopqrst")
        }
    }

    @Test("redirects, statuses and times end as they should")
    func ends() async throws {
        try await HTTPBin.with { server in
            let format = ["-o", "/dev/null", "-w", "%{http_code} %{num_redirects}"]
            let cases: [(arguments: [String], text: String, status: Int32)] = [
                (["-L", server.url("/redirect/5")], "200 5", 0),
                (["-L", server.url("/absolute-redirect/2")], "200 2", 0), ([server.url("/redirect/2")], "302 0", 0),
                (["-L", "--max-redirs", "3", server.url("/redirect/4")], "000 0", 47),
                ([server.url("/status/404")], "404 0", 0), (["-f", server.url("/status/503")], "503 0", 22),
                ([server.url("/status/204")], "204 0", 0), ([server.url("/status/418")], "418 0", 0),
                (["-m", "0.5", server.url("/delay/5")], "000 0", 28),
                (["-m", "100", server.url("/delay/1")], "200 0", 0),
                (["-m", "1", server.url("/drip?numbytes=10&duration=8&delay=0")], "200 0", 28),
            ]
            for (arguments, text, status) in cases {
                let run = try CommandRun(["get"] + format + arguments)
                #expect(
                    run.status == status && (run.text == text || status != 0), "\(arguments): \(run.text) \(run.errors)"
                )
            }
        }
    }
}
