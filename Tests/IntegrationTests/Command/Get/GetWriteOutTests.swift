import Foundation
import Glibc
import Testing

/// The variables of `-w` are those of curl.
@Suite("trawl get and -w", .serialized, .timeLimit(.minutes(5)))
struct GetWriteOutTests {
    @Test("-w knows where a redirect too many leads, and the bytes of all heads")
    func valuesOfRedirects() throws {
        let directory = try TemporaryDirectory()
        let origin = try ScriptedOrigin { seen in
            seen.target == "/3" ? .init(200, "") : .init(302, "", [("Location", seen.target == "/1" ? "/2" : "/3")])
        }
        defer { origin.stop() }
        let arguments = ["-s", "--no-cache", "-D", directory.file("h"), "-L"]
        let ended = try CommandRun(arguments + ["--max-redirs", "1", "-w", "%{redirect_url}", origin.url("/1")])
        #expect(ended.status == 47 && ended.text == origin.url("/3"), "\(ended.errors)")
        let run = try CommandRun(arguments + ["-w", "%{size_header}", origin.url("/1")])
        #expect(run.text == directory.content("h").map { String($0.count) }, "\(run.errors)")
        let files = ["-o", directory.file("a"), "-o", directory.file("b")]
        let both = try CommandRun(
            ["-s", "--no-cache", "-L", "-w", "%{size_header} "] + files + [origin.url("/1"), origin.url("/1")])
        #expect(both.text == "\(run.text) \(run.text) ", "\(both.errors)")
    }

    @Test("-w knows where a redirect leads, the scheme as curl has it, and connections made")
    func values() async throws {
        try await withOrigin { origin in
            let format = "%{redirect_url} %{scheme} %{num_connects}"
            let run = try CommandRun(["-w", format, "-o", "/dev/null", origin.url("/redirect-to?url=/x")])
            #expect(run.text == "\(origin.url("/x")) HTTP 1", "\(run.errors)")
        }
    }

    @Test("-w has the times of the connection, on whichever hop it was made")
    func timesOfRedirects() async throws {
        try await withOrigin { origin in
            let format = "%{num_connects} %{time_connect} %{time_namelookup}"
            let run = try CommandRun(["-s", "-L", "-o", "/dev/null", "-w", format, origin.url("/redirect/1")])
            let values = run.text.split(separator: " ").compactMap { Double($0) }
            // The second hop goes by the connection of the first.
            #expect(values.count == 3 && values[0] == 1 && values[1] > 0 && values[2] > 0, "\(run.text) \(run.errors)")
        }
    }

    @Test("-w is about the last attempt, and not about those before it")
    func retries() throws {
        let origin = try ScriptedOrigin { seen in .init(seen.number == 1 ? 503 : 200, "") }
        defer { origin.stop() }
        let format = "%{http_code} %{time_redirect} %{size_request}|%{time_total}|%{time_starttransfer}"
        let again = ["--no-cache", "--retry", "1", "--retry-delay", "3"]
        let run = try CommandRun(again + ["-s", "-o", "/dev/null", "-w", format, origin.url()])
        let sent = origin.seen().last.map { $0.head.count + 4 } ?? 0
        let values = run.text.split(separator: "|")
        #expect(origin.seen().count == 2 && values.first == "200 0.000000 \(sent)", "\(run.text) \(run.errors)")
        // The wait before it is not its time.
        let times = values.dropFirst().compactMap { Double($0) }
        #expect(times.count == 2 && times[0] < times[1] + 3, "\(run.text)")
    }

    @Test("%{time_total} of -w begins when the turn of a fetch has come")
    func turns() async throws {
        try await withOrigin { origin in
            let directory = try TemporaryDirectory()
            let arguments = ["-s", "--no-cache", "--per-host", "1", "-w", "%{time_total} %{time_starttransfer} "]
            let files = ["-o", directory.file("a"), "-o", directory.file("b")]
            let run = try CommandRun(arguments + files + [origin.url("/delay/3000"), origin.url("/bytes/1")])
            let times = run.text.split(separator: " ").compactMap { Double($0) }
            try #require(run.status == 0 && times.count == 4, "\(run.text) \(run.errors)")
            // The second one waits for the first one, which takes three seconds.
            #expect(times[1] >= 3 && times[2] < times[3] + 3, "\(run.text)")
        }
    }

    @Test("-w counts the bytes of a body as they were transferred, and those of one that was cut off")
    func transferred() throws {
        // gzip of a hundred times the letter a, as zlib has it.
        let packed: [UInt8] = [
            31, 139, 8, 0, 0, 0, 0, 0, 2, 3, 75, 76, 164, 61, 0, 0, 100, 122, 112, 175, 100, 0, 0, 0,
        ]
        let origin = try ScriptedOrigin { seen in
            var answer = ScriptedOrigin.Answer(200, "0123456789")
            if seen.target != "/cut" {
                answer.body = packed
                answer.fields = [("Content-Encoding", "gzip")]
            }
            if seen.target == "/cut" { answer.announced = 100 }
            if seen.target == "/chunked" { answer.framing = .chunked }
            return answer
        }
        defer { origin.stop() }
        let format = "%{size_download} %{num_connects} %{remote_ip}"
        for (target, text, status) in [
            ("/length", "24 1 127.0.0.1", 0), ("/chunked", "24 1 127.0.0.1", 0), ("/cut", "10 1 127.0.0.1", 18),
        ] as [(String, String, Int32)] {
            let run = try CommandRun(
                ["-s", "--compressed", "--no-cache", "-o", "/dev/null", "-w", format, origin.url(target)])
            #expect(run.status == status && run.text == text, "\(target): \(run.text) \(run.errors)")
        }
        let cut = try CommandRun(["-s", "-o", "/dev/null", "-w", "%{time_connect}", origin.url("/cut")])
        #expect(Double(cut.text).map { $0 > 0 } == true, "\(cut.text)")
    }

    @Test("-w counts the bytes of a request's body, and those of all heads that were sent")
    func sent() throws {
        let origin = try ScriptedOrigin { seen in
            seen.target == "/from" ? .init(307, "", [("Location", "/to")]) : .init(200, "")
        }
        defer { origin.stop() }
        // A short one goes out together with its head, of which 100,000 bytes are too many.
        for (length, more) in [
            (25, []), (25, ["-H", "Expect: 100-continue"]), (25, ["-H", "Expect:"]), (60_000, []),
            (60_000, ["-H", "Expect:"]), (100_000, []),
        ] {
            let before = origin.seen().count
            let body = String(repeating: "a", count: length)
            let run = try CommandRun(
                ["-s", "-L", "-d", body, "-w", "%{size_upload} %{size_request}", "-o", "/dev/null"] + more
                    + [origin.url("/from")])
            let heads = origin.seen().dropFirst(before).map { $0.head.count + 4 }.reduce(0, +)
            #expect(run.status == 0 && run.text == "\(length) \(heads)", "\(run.text) \(run.errors)")
        }
        let none = try CommandRun(["-s", "-w", "%{size_upload} %{speed_upload}", "-o", "/dev/null", origin.url("/to")])
        #expect(none.text == "0 0", "\(none.text) \(none.errors)")
    }

    @Test("a variable of -w that does not exist is told, and nothing else is kept from being done")
    func unknownVariable() async throws {
        try await withOrigin { origin in
            let run = try CommandRun(["-s", "-o", "/dev/null", "-w", "%{nope}%{http_code}", origin.url("/bytes/1")])
            #expect(run.status == 0 && run.text == "200", "\(run.errors)")
            #expect(run.errors == "trawl: unknown --write-out variable: 'nope'\n")
        }
    }

    @Test("-w knows no redirect where Location is empty")
    func emptyLocation() throws {
        let origin = try ScriptedOrigin { _ in ScriptedOrigin.Answer(302, "page", [("Location", "")]) }
        defer { origin.stop() }
        let run = try CommandRun(["-L", "-w", "[%{redirect_url}]", origin.url("/")])
        #expect(run.status == 0 && run.text == "page[]", "\(run.errors)")
    }

    @Test("a format in a file may be spread over lines, as in curl")
    func formatFile() async throws {
        let directory = try TemporaryDirectory()
        try directory.put("format", Array("status: %{http_code}\\n\r\n  bytes: %{size_download}\\n\n".utf8))
        try await withOrigin { origin in
            let run = try CommandRun(
                ["-w", "@" + directory.file("format"), "-o", "/dev/null", origin.url("/bytes/10")])
            #expect(run.text == "status: 200\n  bytes: 10\n", "\(run.text) \(run.errors)")
        }
    }

    @Test("-w knows how many fields came")
    func numberOfFields() async throws {
        try await withOrigin { origin in
            let run = try CommandRun(["-w", "%{num_headers}", "-o", "/dev/null", "-D", "-", origin.url("/bytes/1")])
            let lines = run.text.split(whereSeparator: \.isNewline)
            #expect(lines.last == "\(lines.count - 2)", "\(run.text) \(run.errors)")
        }
    }

    @Test("-w has the method of the last hop", arguments: [(301, "GET"), (303, "GET"), (307, "POST")])
    func method(status: Int, last: String) async throws {
        try await withOrigin { origin in
            let url = origin.url("/redirect-to?status=\(status)&url=/x")
            let run = try CommandRun(["-L", "-d", "a=1", "-w", "%{method}", "-o", "/dev/null", url])
            #expect(run.text == last, "\(run.errors)")
        }
    }

    @Test("-w has the Referer that was sent, for one URL and for several", arguments: [1, 2])
    func referer(count: Int) async throws {
        try await withOrigin { origin in
            let directory = try TemporaryDirectory()
            let format = ["-s", "--no-cache", "-w", "[%{referer}]"]
            let urls = (0..<count).flatMap { ["-o", directory.file("\($0)"), origin.url("/bytes/\($0)")] }
            for (options, text) in [
                ([], "[]"), (["-e", "http://r/"], "[http://r/]"), (["-H", "Referer: x"], "[x]"),
            ] as [([String], String)] {
                let run = try CommandRun(format + options + urls)
                #expect(run.text == String(repeating: text, count: count), "\(run.errors)")
            }
        }
    }

    @Test("-w knows the status and the redirects of a fetch that failed with a response")
    func failures() async throws {
        try await withOrigin { origin in
            let cases: [(arguments: [String], target: String, status: Int32, text: String)] = [
                (["-f"], "/status/401?body=no", 22, "401 0"), (["-f"], "/status/404?body=no", 22, "404 0"),
                (["--max-filesize", "10"], "/bytes/1000", 63, "200 0"),
                (["-L", "--max-redirs", "1"], "/redirect/3", 47, "302 1"),
                (["-L"], "/redirect-to?url=ftp://127.0.0.1/", 1, "302 0"),
            ]
            for (arguments, target, status, text) in cases {
                let run = try CommandRun(
                    arguments + ["-s", "-o", "/dev/null", "-w", "%{http_code} %{num_redirects}", origin.url(target)])
                #expect(run.status == status && run.text == text, "\(target): \(run.text) \(run.errors)")
            }
        }
    }

    @Test("-w knows the exchange that was ended at its head")
    func endedAtHead() throws {
        let never = Occasion()
        let origin = try ScriptedOrigin { seen in
            if seen.target == "/from" { return .init(303, "", [("Location", "/to")]) }
            var answer = ScriptedOrigin.Answer(seen.target == "/missing" ? 404 : 200, "begun")
            answer.rest = (Array(" and ended".utf8), never)
            return answer
        }
        defer {
            never.open()
            origin.stop()
        }
        let directory = try TemporaryDirectory()
        let start = ["-s", "--no-cache", "-o", directory.file("body"), "-w"]
        let format = "%{http_code} %{num_connects} %{remote_ip} %{size_upload} %{method} %{url_effective}"
        let failed = try CommandRun(start + [format, "-f", "-d", "a=1", origin.url("/missing")])
        #expect(
            failed.status == 22 && failed.text == "404 1 127.0.0.1 3 POST \(origin.url("/missing"))",
            "\(failed.text) \(failed.errors)")
        let heads = try CommandRun(start + [format, "-I", "-X", "GET", "-L", origin.url("/from")])
        #expect(
            heads.status == 0 && heads.text == "200 1 127.0.0.1 0 GET \(origin.url("/to"))",
            "\(heads.text) \(heads.errors)")
        let kept = try CommandRun(
            start + ["%{http_code} %{exitcode}", "--fail-with-body", "-I", "-X", "GET", origin.url("/missing")])
        #expect(kept.status == 22 && kept.text == "404 22", "\(kept.text) \(kept.errors)")
        #expect(directory.content("body")?.starts(with: Array("HTTP/1.1 404 ".utf8)) == true)
        let times = try CommandRun(start + ["%{time_starttransfer}", "-f", origin.url("/missing")])
        #expect(Double(times.text).map { $0 > 0 } == true, "\(times.text) \(times.errors)")
    }

    @Test("a reader of -w that has gone changes no status of one URL, and stops several where any is left")
    func closedReader() async throws {
        try await withOrigin { origin in
            let directory = try TemporaryDirectory()
            func start(_ arguments: [String]) throws -> ChildProcess {
                try ChildProcess(
                    try BuiltProducts.trawl(), ["get", "-s", "--no-cache", "-w", "%{http_code}\\n"] + arguments)
            }
            let missing = origin.url("/status/404?body=no")
            let intoFiles = ["-O", "--output-dir", directory.path, "-D", directory.file("heads")]
            let cases: [(arguments: [String], status: Int32)] = [
                (["-f", "-o", directory.file("x"), missing], 22), (["-f", missing], 22),
                (["-o", directory.file("x"), origin.url("/bytes/3")], 0),
                (intoFiles + [origin.url("/bytes/4"), origin.url("/bytes/5")], 75),
                // Who reads bodies has all it wanted.
                (["-f", missing, origin.url("/bytes/6")], 0),
            ]
            for (arguments, status) in cases {
                let run = try start(arguments)
                shutdown(run.output, Int32(SHUT_RDWR))
                #expect(run.exitStatus(within: 60_000) == status, "\(arguments)")
            }
            #expect(try origin.log(prefix: "/bytes").map(\.target) == ["/bytes/3", "/bytes/4"])
            // The last one's line is not read.
            let last = try start(intoFiles + [origin.url("/bytes/7"), origin.url("/delay/500")])
            #expect(last.readLine() == "200")
            shutdown(last.output, Int32(SHUT_RDWR))
            #expect(last.exitStatus(within: 60_000) == 0)
            #expect(directory.content("500") != nil)
        }
    }

    @Test("-w has the same values for several URLs as for one, also of fetches that fail")
    func several() async throws {
        try await withOrigin { origin in
            let directory = try TemporaryDirectory()
            let format = "%{http_code} %{num_redirects} [%{redirect_url}] %{exitcode} %{errormsg}\n"
            let cases: [(arguments: [String], target: String, status: String)] = [
                (["-f"], "/status/404?body=no", "404 0"), (["--max-filesize", "10"], "/bytes/1000", "200 0"),
                (["-L", "--max-redirs", "1"], "/redirect/3", "302 1"),
                (["-L"], "/redirect-to?url=ftp://127.0.0.1/", "302 0"),
            ]
            for (arguments, target, status) in cases {
                let (options, url) = (arguments + ["-s", "-w", format], origin.url(target))
                let one = try CommandRun(options + ["-o", directory.file("a"), url])
                #expect(one.text.hasPrefix(status) && one.status != 0, "\(target): \(one.text) \(one.errors)")
                let both = try CommandRun(options + ["-o", directory.file("a"), "-o", directory.file("b"), url, url])
                #expect(both.text == one.text + one.text, "\(target): \(both.text) \(both.errors)")
            }
        }
    }
}
