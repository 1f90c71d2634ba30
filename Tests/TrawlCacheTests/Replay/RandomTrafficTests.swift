import TestSupport
import Testing
import TrawlCache
import TrawlHTTP

@Suite("Traffic made by chance, against an origin that keeps its word")
struct RandomTrafficTests {
    /// An origin whose representations depend on the path, the user, `Foo` and a version that grows.
    private struct Site {
        var version = 1
        var random: SeededGenerator

        static func content(_ path: String, _ user: String, _ foo: String, _ version: Int) -> [UInt8] {
            let line = "\(path)|\(user)|\(foo)|\(version)|"
            return Array(String(repeating: line, count: 5 + version % 3).utf8)
        }

        mutating func answer(_ method: Method, _ target: TargetURI, _ sent: FieldLines, _ now: WallTime) -> MemoryEngine
            .Exchange?
        {
            if random.next() % 20 == 0 { return nil }
            if !method.isSafe {
                version += 1
                return exchange(204, [], [])
            }
            if random.next() % 20 == 0 { return exchange(503, [], Array("sorry".utf8)) }
            if random.next() % 30 == 0 { version += 1 }
            let user = sent.first("Authorization") ?? ""
            let foo = sent.first("Foo") ?? ""
            let content = Self.content(target.path, user, foo, version)
            let tag = "\"\(version)\""
            var lines = [("ETag", tag), ("Vary", "Foo"), ("Date", HTTPDate.format(now)), ("X-Version", "\(version)")]
            let control = [
                "max-age=3", "max-age=0", "no-cache", "max-age=5, stale-while-revalidate=5", "max-age=5, private",
                "max-age=2, stale-if-error=10", "no-store",
            ]
            lines.append(("Cache-Control", random.pick(control)))
            if sent.first("If-None-Match") == tag { return exchange(304, lines, []) }
            let holds = sent.first("If-Range").map { $0 == tag } ?? true
            if holds, let range = sent.first("Range").flatMap({ Self.range($0, content.count) }) {
                lines.append(("Content-Range", "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(content.count)"))
                return exchange(206, lines, method == .head ? [] : Array(content[range]))
            }
            return exchange(200, lines, method == .head ? [] : content)
        }

        private func exchange(_ status: UInt16, _ lines: [(String, String)], _ body: [UInt8]) -> MemoryEngine.Exchange {
            MemoryEngine.Exchange(head: head(lines, status: status), body: body)
        }

        static func range(_ text: String, _ count: Int) -> Range<Int>? {
            let parts = text.dropFirst(6).split(separator: "-", omittingEmptySubsequences: false)
            guard parts.count == 2 else { return nil }
            if parts[0].isEmpty { return Int(parts[1]).map { max(0, count - $0)..<count } }
            guard let first = Int(parts[0]), first < count else { return nil }
            let end = min(count, (Int(parts[1]) ?? count - 1) + 1)
            return first < end ? first..<end : nil
        }
    }

    @Test("every answer is one version, of the right user and variant", arguments: 1...40)
    func consistent(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var site = Site(random: SeededGenerator(seed: seed &+ 1000))
        var engine = MemoryEngine()
        var reused = 0
        for step in 0..<250 {
            engine.now = engine.now.advanced(byMilliseconds: Int64(random.next() % 800))
            let path = random.pick(["/a", "/b"])
            let user = random.pick(["", "", "alice", "bob"])
            let foo = random.pick(["", "1", "2"])
            var lines: [(String, String)] = []
            if !user.isEmpty { lines.append(("Authorization", user)) }
            if !foo.isEmpty { lines.append(("Foo", foo)) }
            switch random.next() % 6 {
            case 0, 1:
                lines.append(("Range", random.pick(["bytes=0-9", "bytes=5-30", "bytes=10-", "bytes=-7", "bytes=2-1"])))
            case 2: lines.append(("If-None-Match", "\"\(site.version - Int(random.next() % 2))\""))
            case 3: lines.append(("Cache-Control", random.pick(["no-cache", "max-stale=5", "max-age=1", "no-store"])))
            default: break
            }
            let method = random.next() % 40 == 0 ? .post : random.pick([Method.get, .get, .get, .get, .get, .head])
            let asked = request(lines, method: method, to: "http://example.org" + path)
            guard let answer = engine.fetch(asked, origin: { site.answer($0, $1, $2, $3) }) else { continue }
            if answer.source != .network { reused += 1 }
            guard answer.head.status == 200 || answer.head.status == 206, asked.method == .get else { continue }
            let version = try #require(answer.head.fields.first("X-Version").flatMap { Int($0) })
            let content = Site.content(path, user, foo, version)
            let note = "seed \(seed), step \(step), \(answer.source)"
            #expect(answer.head.fields.first("ETag") == "\"\(version)\"", "\(note)")
            if answer.head.status == 200 {
                #expect(answer.body == content, "\(note)")
            } else {
                let range = try #require(answer.head.fields.first("Content-Range"))
                let bounds = range.dropFirst(6).split { $0 == "-" || $0 == "/" }.compactMap { Int($0) }
                try #require(bounds.count == 3)
                #expect(bounds[2] == content.count, "\(note)")
                #expect(answer.body == Array(content[bounds[0]...bounds[1]]), "\(note)")
            }
        }
        #expect(reused > 20)
    }

    @Test("nonsense in fields never traps", arguments: 1...20)
    func nonsense(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var engine = MemoryEngine()
        let names = [
            "Cache-Control", "Vary", "ETag", "Last-Modified", "Date", "Expires", "Age", "Content-Range",
            "Content-Length",
            "Range", "If-Range", "If-None-Match", "If-Modified-Since", "Accept-Encoding", "Content-Encoding",
            "Content-Location", "Location", "Clear-Site-Data", "Connection", "Foo", "Accept",
        ]
        let pieces = [
            "max-age", "=", "60", "\"", ",", " ", "bytes", "0-4", "/10", "*", "W/", "-", "1", ";q=", "0.5", "no-cache",
            "Foo", date(-50), "99999999999999999999", "stale-while-revalidate=9", "é", "\\",
        ]
        func lines(_ random: inout SeededGenerator) -> [(String, String)] {
            (0..<Int(random.next() % 6)).map { _ in
                let count = Int(random.next() % 5)
                return (random.pick(names), (0..<count).map { _ in random.pick(pieces) }.joined())
            }
        }
        for _ in 0..<300 {
            engine.now = engine.now.advanced(byMilliseconds: Int64(random.next() % 100_000))
            let asked = request(lines(&random), method: random.pick([.get, .get, .get, .head, .put]))
            _ = engine.fetch(asked) { _, _, _, _ in
                let status = random.pick([200, 200, 206, 304, 404, 416, 503] as [UInt16])
                return MemoryEngine.Exchange(head: head(lines(&random), status: status), body: random.bytes(upTo: 12))
            }
        }
    }
}
