import Foundation
import Testing

/// The contract of docs/pipe.md, sentence by sentence.
@Suite("trawl pipe", .serialized, .timeLimit(.minutes(3)))
struct PipeCommandTests {
    @Test("a request is answered with its id as it was written, status, header lines and body")
    func plain() async throws {
        try await withOrigin { origin in
            let ids = [#""ü\u0041""#, "1.0", "1e3", "123456789012345678901234567890", "-0", #""""#]
            let answers = try await PipeProcess.answers(
                ids.map { #"{"id":\#($0),"url":"\#(origin.url("/bytes/10"))"}"# })
            #expect(answers.count == ids.count)
            for id in ids {
                let answer = try #require(answers[id], "\(id)")
                #expect(answer.status == 200 && answer.members["reason"] as? String == "OK")
                #expect(answer.url == origin.url("/bytes/10"))
                #expect(answer.headers.contains(["Content-Length", "10"]))
                #expect(answer.body == ReferenceBytes.bytes(10))
                #expect(answer.members["error"] is NSNull && answer.members["from_cache"] as? Bool == false)
            }
        }
    }

    @Test("one at a time, requests go out in their order, those too that come while the cache is opened")
    func order() async throws {
        try await withOrigin { origin in
            for round in 0..<8 {
                let directory = try TemporaryDirectory()
                let targets = (0..<6).map { "/bytes/\($0)?round=\(round)" }
                let lines = targets.map { "{\"url\":\"\(origin.url($0))\"}\n" }
                let run = try CommandRun(
                    ["pipe", "-j", "1", "--store", directory.file("store")], input: lines.joined())
                #expect(run.status == 0, "\(run.errors)")
                #expect(try origin.log(prefix: "/bytes").map(\.target).suffix(6) == targets[...])
            }
        }
    }

    @Test("bad lines are answered with bad_request, with the id when it could be read, and the rest goes on")
    func badLines() async throws {
        let pipe = try PipeProcess()
        let lines = [
            "nonsense", "[1]", #"{"id":1}"#, #"{"id":2,"url":"http://a/","colour":"red"}"#,
            #"{"id":3,"url":"http://a/","url":"http://b/"}"#, #"{"id":4,"url":5}"#, #"{"id":5,"url":"http://a/""#,
            #"{"id":true,"url":"http://a/"}"#, #"{"id":6,"url":"http://a/","auth":["u","p"]}"#,
            #"{"id":7,"url":"http://a/","auth":{"username":"u"}}"#,
            #"{"id":8,"url":"http://a/","cache_policy":"often"}"#,
            #"{"id":9,"url":"http://a/","headers":[["A B","x"]]}"#,
            #"{"id":10,"url":"http://a/","headers":[["A","\u0100"]]}"#,
            #"{"id":11,"url":"http://a/","headers":[["A","x\r\nB: y"]]}"#,
        ]
        let ids = ["null", "null"] + (1...5).map(String.init) + ["null"] + (6...11).map(String.init)
        for (line, id) in zip(lines, ids) {
            pipe.write(line)
            let answer = try #require(await pipe.next(), "\(line)")
            #expect(answer.code == "bad_request" && answer.id == id, "\(line): \(answer.text)")
        }
        pipe.write(Array(#"{"id":12,"url":"http://u:p@a/"}"#.utf8) + [0, 0x0A])
        let zero = try #require(await pipe.next())
        #expect(zero.code == "bad_request" && zero.id == "12" && zero.url == "http://a/", "\(zero.text)")
        pipe.write(Array(#"{"id":13,"method":""#.utf8) + [0xFF, 0x22, 0x7D, 0x0A])
        #expect(await pipe.next()?.id == "13")
        pipe.write(
            Array(#"{"id":14,"nothing":""#.utf8) + [UInt8](repeating: 0x61, count: 10_000_000) + [0x22, 0x7D, 0x0A])
        #expect(await pipe.next()?.id == "14")
        pipe.write(#"{"id":15,"url":"mailto:a@b"}"#)
        let other = try #require(await pipe.next())
        #expect(other.code == "unsupported_url" && other.url == "mailto:a@b", "\(other.text)")
        pipe.write("")
        pipe.write("   ")
        #expect(await pipe.finish().isEmpty)
        #expect(await pipe.exitStatus() == 0)
    }

    @Test("a first line that begins as packed input does is a bad line like others")
    func packedLine() async throws {
        try await withOrigin { origin in
            let pipe = try PipeProcess()
            // RFC 1952 §2.3.1.
            pipe.write([0x1F, 0x8B, 0x08, 0x00, 0x0A])
            #expect(await pipe.next()?.code == "bad_request")
            pipe.write(#"{"id":1,"url":"\#(origin.url("/bytes/5"))"}"#)
            #expect(await pipe.next()?.body == ReferenceBytes.bytes(5))
            #expect(await pipe.finish().isEmpty)
            #expect(await pipe.exitStatus() == 0)
        }
    }

    @Test("a password with a sign that ends an authority is in no answer and no message", arguments: ["/", "?", "#"])
    func passwords(sign: String) async throws {
        let directory = try TemporaryDirectory()
        let pipe = try PipeProcess(errors: directory.file("errors"))
        let url = "http://user:pa\(sign)ssW2@127.0.0.1:1/"
        for (line, code) in [
            (#"{"url":"\#(url)"}"#, "invalid_url"), (#"{"url":"\#(url)","colour":1}"#, "bad_request"),
        ] {
            pipe.write(line)
            let answer = try #require(await pipe.next())
            #expect(answer.code == code && answer.url == "http://127.0.0.1:1/", "\(answer.text)")
            #expect(!answer.text.contains("ssW2") && !answer.text.contains("user:"), "\(answer.text)")
        }
        #expect(await pipe.finish().isEmpty)
        #expect(await pipe.exitStatus() == 0)
        let errors = String(decoding: directory.content("errors") ?? [], as: UTF8.self)
        #expect(!errors.contains("ssW2"), "\(errors)")
    }

    @Test("methods, header bytes and bodies go out as they are said, and header bytes come back one character each")
    func requests() async throws {
        try await withOrigin { origin in
            let high = String(String.UnicodeScalarView((0x80...0xFF).map { Unicode.Scalar(UInt8($0)) }))
            let raw = "HTTP/1.1 200 F\u{ED}ne\r\nX-High: \(high)\r\nX-Two: 1\r\nX-Two: 2\r\nContent-Length: 0\r\n\r\n"
            let head = Data(raw.unicodeScalars.map { UInt8($0.value) }).base64EncodedString()
            let body = ReferenceBytes.bytes(300_000)
            let answers = try await PipeProcess.answers([
                #"{"id":1,"url":"\#(origin.url("/raw?b64=" + percent(head)))"}"#,
                #"{"id":2,"url":"\#(origin.url("/headers"))","method":"PUT","headers":[["X-High","\#(high)"],["X-A","1"],["X-A","2"]]}"#,
                #"{"id":3,"url":"\#(origin.url("/echo"))","method":"POST","body_base64":"\#(Data(body).base64EncodedString())"}"#,
                #"{"id":4,"url":"\#(origin.url("/echo"))","method":"POST","body":"h\u00e9"}"#,
                #"{"id":5,"url":"\#(origin.url("/bytes/50"))","method":"HEAD"}"#,
                #"{"id":6,"url":"\#(origin.url("/headers"))","headers":[["Accept-Encoding","identity"]]}"#,
                #"{"id":7,"url":"\#(origin.url("/headers"))","body":"h"}"#,
                #"{"id":8,"url":"\#(origin.url("/headers"))","method":"POST","body":"h"}"#,
            ])
            #expect(
                answers["1"]?.headers == [
                    ["X-High", high], ["X-Two", "1"], ["X-Two", "2"], ["Content-Length", "0"],
                ])
            let echo = try #require(answers["2"]?.body)
            let seen = try #require(try JSONSerialization.jsonObject(with: Data(echo)) as? [String: Any])
            let fields = seen["fields"] as? [[String]] ?? []
            #expect(seen["method"] as? String == "PUT")
            #expect(fields.filter { $0[0].hasPrefix("X-") } == [["X-High", high], ["X-A", "1"], ["X-A", "2"]])
            #expect(fields.contains { $0[0] == "Accept-Encoding" && $0[1].contains("gzip") && $0[1].contains("br") })
            #expect(answers["3"]?.body == body)
            #expect(answers["4"]?.body == Array("h\u{E9}".utf8))
            #expect(answers["5"]?.status == 200 && answers["5"]?.body == [])
            let plain = String(decoding: answers["6"]?.body ?? [], as: UTF8.self)
            #expect(plain.contains("identity") && !plain.contains("gzip"))
            // It is GET unless the line says otherwise, with a body too.
            for (id, method) in [("7", "GET"), ("8", "POST")] {
                let seen = try JSONDecoder().decode(SeenRequest.self, from: Data(answers[id]?.body ?? []))
                #expect(seen.method == method && seen.bodyFNV1a64 == ReferenceBytes.hash(Array("h".utf8)), "\(id)")
            }
        }
    }

    @Test("an empty body is none: the method stays GET, nothing is announced, and the cache answers")
    func emptyBody() async throws {
        let members = ["", #","body":"""#, #","body_base64":"""#, #","method":"GET","body":"""#]
        try await withScene(answering: { page("one", to: $0) }) { scene in
            let pipe = try PipeProcess(["--store", scene.store])
            let url = scene.origin.url("/a")
            for (index, more) in members.enumerated() {
                pipe.write(#"{"id":\#(index),"url":"\#(url)"\#(more)}"#)
                let answer = try #require(await pipe.next(), "\(more)")
                #expect(answer.body == Array("one".utf8), "\(more): \(answer.text)")
                #expect(answer.members["from_cache"] as? Bool == (index > 0), "\(more): \(answer.text)")
            }
            // No store: what goes out is seen.
            pipe.write(#"{"url":"\#(scene.origin.url("/b"))","cache_policy":"no-store","body":""}"#)
            #expect(await pipe.next()?.status == 200)
            #expect(await pipe.finish().isEmpty)
            let seen = scene.origin.seen()
            #expect(seen.map(\.method) == ["GET", "GET"] && seen.allSatisfy { $0.fields["content-length"] == nil })
        }
    }

    private func percent(_ text: String) -> String {
        text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? text
    }

    @Test("bodies come decoded; a coding nobody knows is left alone; large ones are whole")
    func bodies() async throws {
        try await withOrigin { origin in
            let names = ["/plain", "/gzip", "/deflate", "/brotli", "/coding?names=x-unknown", "/coding?names=zstd"]
            let large = [98_303, 98_304, 98_305, 196_608, 3_000_001]
            let answers = try await PipeProcess.answers(
                (names + large.map { "/bytes/\($0)" }).map { #"{"id":"\#($0)","url":"\#(origin.url($0))"}"# })
            let text = try #require(answers[#""/plain""#]?.body)
            #expect(text.count == 30_800)
            for name in names { #expect(answers["\"\(name)\""]?.body == text, "\(name)") }
            #expect(answers[#""/gzip""#]?.headers.contains(["Content-Encoding", "gzip"]) == true)
            for count in large { #expect(answers["\"/bytes/\(count)\""]?.body == ReferenceBytes.bytes(count)) }
        }
    }

    @Test(
        "each kind of failure has its code, and the URL it happened at (ULS-CONN-05)",
        .enabled(if: Resolver.knowsNobody, Resolver.missing))
    func errors() async throws {
        try await withOrigin { origin in
            let cases = [
                ("timeout", origin.url("/stall"), #","timeout":0.3"#), ("connect", "http://127.0.0.1:1/", ""),
                ("dns", "http://no-such-host.invalid/", ""),
                ("tls", origin.url("/").replacing("http:", with: "https:"), ""),
                ("too_many_redirects", origin.url("/redirect/5"), #","max_redirects":2"#),
                ("too_many_redirects", origin.url("/redirect-loop"), ""), ("invalid_url", "http://a b/", ""),
                ("unsupported_url", "gopher://a/", ""), ("protocol", origin.url("/garbage"), ""),
                ("decoding", origin.url("/gzip-badcrc"), ""), ("truncated", origin.url("/truncate"), ""),
                ("too_large", origin.url("/bytes/60000"), ""),
                ("bad_request", origin.url("/bytes/1"), #","headers":[["Host","a.test"],["host","a.test"]]"#),
            ]
            let lines = cases.enumerated().map { #"{"id":\#($0),"url":"\#($1.1)"\#($1.2)}"# }
            let answers = try await PipeProcess.answers(lines, ["--max-filesize", "50000"])
            for (index, (code, url, _)) in cases.enumerated() {
                let answer = try #require(answers[String(index)])
                #expect(answer.code == code, "\(url): \(answer.text)")
                #expect(answer.message?.isEmpty == false && answer.url != nil && answer.body == [])
            }
            #expect(answers["4"]?.url == origin.url("/redirect/3"))
        }
    }

    @Test("redirects are followed and told, or are the answer when that is asked for; 1xx responses are told")
    func heads() async throws {
        let early =
            "HTTP/1.1 103 Early Hints\r\nX-First: 1\r\n\r\n"
            + "HTTP/1.1 302 Found\r\nLocation: /interim?list=102\r\nContent-Length: 0\r\n\r\n"
        let raw = percent(Data(early.utf8).base64EncodedString())
        try await withOrigin { origin in
            let answers = try await PipeProcess.answers([
                #"{"id":6,"url":"\#(origin.url("/raw?b64=" + raw))"}"#,
                #"{"id":1,"url":"\#(origin.url("/redirect/2"))"}"#,
                #"{"id":2,"url":"\#(origin.url("/redirect/2"))","redirect":"manual"}"#,
                #"{"id":3,"url":"\#(origin.url("/interim?list=102,103"))"}"#,
                #"{"id":4,"url":"\#(origin.url("/status/404"))"}"#, #"{"id":5,"url":"\#(origin.url("/status/204"))"}"#,
            ])
            #expect(answers["1"]?.status == 200 && answers["1"]?.url == origin.url("/anything"))
            #expect((answers["1"]?.members["redirects"] as? [[Any]])?.count == 2)
            #expect(answers["2"]?.status == 302 && answers["2"]?.url == origin.url("/redirect/2"))
            let interim = answers["3"]?.members["interim"] as? [[Any]] ?? []
            #expect(interim.map { $0.first as? Int } == [102, 103])
            #expect((interim.last?.last as? [[String]])?.contains { $0[0] == "Link" } == true)
            let onTheWay = answers["6"]?.members["interim"] as? [[Any]] ?? []
            #expect(answers["6"]?.url == origin.url("/interim?list=102"))
            #expect(onTheWay.map { $0.first as? Int } == [103, 102])
            #expect(onTheWay.first?.last as? [[String]] == [["X-First", "1"]])
            #expect(answers["4"]?.status == 404 && answers["4"]?.members["error"] is NSNull)
            #expect(answers["5"]?.status == 204 && answers["5"]?.body == [])
        }
    }

    @Test(
        "a hundred are in flight at one host by default, --per-host limits them, and answers come when they are ready")
    func parallel() async throws {
        try await withOrigin { origin in
            let pipe = try PipeProcess()
            for id in 0..<100 { pipe.write(#"{"id":\#(id),"url":"\#(origin.url("/stall"))","timeout":60}"#) }
            #expect(await eventually { (try? origin.concurrency().now) == 100 })
            pipe.write(#"{"id":"late","url":"\#(origin.url("/bytes/1"))"}"#)
            #expect(await pipe.next()?.id == "\"late\"")
            await pipe.signalTwice(SIGINT)
            var codes: [String?] = []
            while let answer = await pipe.next() { codes.append(answer.code) }
            #expect(codes == Array(repeating: "cancelled", count: 100))
            #expect(await pipe.exitStatus() == 75)
        }
        try await withOrigin { origin in
            let lines = (0..<20).map { #"{"id":\#($0),"url":"\#(origin.url("/delay/5"))"}"# }
            let answers = try await PipeProcess.answers(lines, ["--per-host", "2"])
            let most = try origin.concurrency().max
            #expect(answers.count == 20 && most <= 2)
        }
    }

    @Test("with a store, of two hundred in flight each is answered once, and one request goes out for all of one URL")
    func sameURL() async throws {
        let (store, gate) = (try TemporaryDirectory(), Occasion())
        let origin = try ScriptedOrigin { seen in
            var answer = ScriptedOrigin.Answer(200, "begin", [("Cache-Control", "max-age=3600")])
            // Its head comes: who waits for a response does so for some seconds when none begins.
            answer.rest = (Array(" end of \(seen.target)".utf8), gate)
            return answer
        }
        defer {
            gate.open()
            origin.stop()
        }
        let pipe = try PipeProcess(["--store", store.path])
        // No more than the pipe takes before it has answered one.
        let targets = (0..<220).map { $0 < 200 && $0 % 2 == 0 ? "/same" : "/\($0)" }
        for (id, target) in targets.enumerated() { pipe.write(#"{"id":\#(id),"url":"\#(origin.url(target))"}"#) }
        #expect(await eventually { origin.seen().count == 121 })
        gate.open()
        pipe.closeInput()
        var counts: [String: Int] = [:]
        while let answer = await pipe.next() {
            counts[answer.id, default: 0] += 1
            let id = try #require(Int(answer.id), "\(answer.text)")
            #expect(answer.status == 200 && answer.body == Array("begin end of \(targets[id])".utf8), "\(answer.text)")
        }
        #expect(counts.count == targets.count && counts.values.allSatisfy { $0 == 1 }, "\(counts)")
        #expect(await pipe.exitStatus() == 0)
        let again = try await PipeProcess.answers(
            (0..<150).map { #"{"id":\#($0),"url":"\#(origin.url("/same"))"}"# }, ["--store", store.path])
        #expect(again.count == 150 && again.values.allSatisfy { $0.members["from_cache"] as? Bool == true })
        #expect(origin.seen("/same").count == 1)
    }

    @Test("--resolve, -H and -A count for every request, and a request's own header lines come first")
    func options() async throws {
        try await withOrigin { origin in
            let url = "http://some.example:\(origin.port)/headers"
            let answers = try await PipeProcess.answers(
                [#"{"id":1,"url":"\#(url)"}"#, #"{"id":2,"url":"\#(url)","headers":[["x-run","mine"]]}"#],
                ["--resolve", "some.example:\(origin.port):127.0.0.1", "-H", "X-Run: yours", "-A", "tester/1"])
            let texts = ["1", "2"].map { String(decoding: answers[$0]?.body ?? [], as: UTF8.self) }
            #expect(texts.allSatisfy { $0.contains("tester/1") && $0.contains("some.example") })
            #expect(texts[0].contains("yours") && !texts[1].contains("yours") && texts[1].contains("mine"))
        }
    }

    @Test("what this version has not is refused by name")
    func notYet() throws {
        for arguments in [["--robots"], ["--warc", "x"]] {
            let run = try CommandRun(["pipe"] + arguments)
            #expect(run.status == 2 && run.errors.contains(arguments[0]) && run.errors.contains("version"))
        }
    }

    @Test("a connection with unread bytes on it is never used again")
    func poison() async throws {
        try await withOrigin { origin in
            let pipe = try PipeProcess(["-j", "1"])
            for id in 0..<20 {
                pipe.write(
                    #"{"id":\#(id),"url":"\#(origin.url(id % 2 == 0 ? "/poison/short-length?ms=0" : "/bytes/3"))"}"#)
                let answer = try #require(await pipe.next())
                #expect(!answer.text.contains("X-Poison"), "\(answer.text)")
                if id % 2 == 1 { #expect(answer.body == ReferenceBytes.bytes(3)) }
            }
            _ = await pipe.finish()
            #expect(await pipe.exitStatus() == 0)
        }
    }
}
