import Foundation
import TestSupport
import Testing
import Trawl
import TrawlCache
import TrawlHTTP
import TrawlJSON
import TrawlPlatform
import TrawlStore

@testable import TrawlCommand

@Suite("Lists of stored responses")
struct StoredListingTests {
    @Test(
        "a list has every response once, the longest stored first, however many pages that takes",
        arguments: [0, 1, 3, 7])
    func pages(count: Int) throws {
        let fixture = try StoreFixture()
        for index in 0..<count { try fixture.store("http://h/\(index)") }
        #expect(try fixture.listings().map(\.url) == (0..<count).map { "http://h/\($0)" })
    }

    @Test("a store that cannot be read is not taken for one whose responses were removed")
    func unreadable() throws {
        let fixture = try StoreFixture()
        try fixture.store("http://h/")
        let listing = try #require(try fixture.listings().first)
        #expect(try fixture.responses.item(of: listing).body?.length == 4)
        fixture.responses.cache.close()
        #expect(throws: BodyLoss.unreadable(.closed)) { try fixture.responses.item(of: listing) }
    }

    @Test("a line has columns, and what is long or strange at its end")
    func line() throws {
        let fixture = try StoreFixture()
        try fixture.store(
            "http://h/a\u{1b}[2J", [UInt8](repeating: 1, count: 2048),
            [("Cache-Control", "max-age=60"), ("ETag", "\"a\u{9b}\""), ("Vary", "accept"), ("Vary", "x")])
        let listing = try #require(try fixture.listings().first)
        let fresh = listing.line(at: StoreFixture.time.advanced(byMilliseconds: 12_345))
        #expect(
            fresh
                == "200       2.0K   12s  fresh 47s    permanent  http://h/a\\u{1b}[2J  etag \"a\\u{9b}\"  vary accept, x"
        )
        #expect(fresh.utf8.count > StoredListing.heading.utf8.count)
        let stale = listing.line(at: StoreFixture.time.advanced(byMilliseconds: 7_200_000))
        #expect(stale.hasPrefix("200       2.0K    2h  stale 1h     permanent  "), "\(stale)")
    }

    @Test("what wants to be validated each time is neither fresh nor stale")
    func noCache() throws {
        let fixture = try StoreFixture()
        try fixture.store("http://h/", [], status: 404, [("Cache-Control", "no-cache, max-age=9")], session: .make())
        let line = try #require(try fixture.listings().first).line(at: StoreFixture.time)
        #expect(line == "404         0B    0s  no-cache     session    http://h/")
    }

    @Test("columns stand under their headings")
    func heading() throws {
        let fixture = try StoreFixture()
        try fixture.store("http://h/")
        let line = try #require(try fixture.listings().first).line(at: StoreFixture.time)
        for (title, value) in [("FRESHNESS", "fresh"), ("KEPT", "permanent"), ("URL", "http")] {
            let head = StoredListing.heading
            #expect(
                head.range(of: title)?.lowerBound.utf16Offset(in: head)
                    == line.range(of: value)?.lowerBound.utf16Offset(in: line), "\(title)")
        }
    }

    @Test("as JSON a response has the members of the contract")
    func json() throws {
        let fixture = try StoreFixture()
        try fixture.store("http://h/a", [1], [("Cache-Control", "max-age=60"), ("ETag", "\"x\"")])
        let listing = try #require(try fixture.listings().first)
        var writer = JSONWriter()
        ResultLines.write(to: &writer) {
            listing.write(to: &$0, at: StoreFixture.time.advanced(byMilliseconds: 70_500))
        }
        #expect(
            String(decoding: writer.bytes, as: UTF8.self)
                == #"{"v":1,"url":"http://h/a","status":200,"length":1,"stored":1795266000,"age":70,"freshness":"stale","#
                + #""fresh_for":-10,"kept":"permanent","etag":"\"x\""}"# + "\n")
    }

    @Test(
        "times have one unit",
        arguments: [
            (0, "0s"), (59, "59s"), (60, "1m"), (3599, "59m"), (3600, "1h"), (172_799, "47h"), (172_800, "2d"),
            (86_400_000, "2y"), (.max, "ever"),
        ] as [(UInt64, String)])
    func times(seconds: UInt64, text: String) {
        #expect(ShortTime.text(seconds) == text)
    }
}

@Suite("URLs of arguments of trawl cache")
struct StoredURLTests {
    @Test("a URL is looked for as it is written, and as it would be requested")
    func keys() throws {
        #expect(try StoredURL.keys(of: "http://h/a").map(\.text) == ["http://h/a"])
        #expect(try StoredURL.keys(of: "h").map(\.text) == ["http://h", "http://h/"])
        #expect(try StoredURL.keys(of: "HTTP://me:x@H:80/./a#f").map(\.text) == ["HTTP://H:80/./a", "http://h/a"])
        #expect(throws: CommandError.self) { try StoredURL.keys(of: "http://") }
    }

    @Test(
        "a prefix is of one origin",
        arguments: [
            ("example.org", "http://example.org/", true), ("example.org", "http://example.org/a", true),
            ("example.org", "http://example.org.evil/", false), ("example.org", "https://example.org/", false),
            ("HTTP://Example.org:80", "http://example.org/a", true), ("https://h:443/a", "https://h/ab", true),
            ("http://h:80", "http://h:8080/", false), ("h/a", "http://h/ab", true), ("h/A", "http://h/a", false),
            ("http://h?x", "http://h/?xy", true), ("http://h/a", "http://h/", false),
            ("http://me@h", "http://h/", true),
            ("", "http://h/", false),
        ])
    func prefix(prefix: String, url: String, matches: Bool) {
        #expect(StoredURLPrefix(prefix).matches(url) == matches)
    }

    @Test(
        "the target of a key is cut as it was put together",
        arguments: ["http://h/", "https://h:8080/a?b", "http://[::1]/a", "http://[::1]:81/?", "ftp://h/a:b/c?d:e"])
    func targets(text: String) throws {
        let target = try #require(TargetURI(key: CacheKey(text: text)))
        let port = target.origin.explicitPort.map { ":\($0)" } ?? ""
        #expect(
            target.origin.scheme + "://" + target.origin.host + port + target.path
                + (target.query.map { "?" + $0 } ?? "") == text)
    }

    @Test(
        "no key of another form has a target",
        arguments: ["", "http://", "http://h", "h/a", "http:///a", "http://h:x/"])
    func noTargets(text: String) {
        #expect(TargetURI(key: CacheKey(text: text)) == nil)
    }
}

@Suite("What the cache did for a run")
struct CacheTallyTests {
    @Test("each source counts as what it was, and a stale answer is told only when there is one")
    func sources() {
        var tally = CacheTally()
        #expect(!tally.isOfUse)
        for source in [.network, .generated, .cache, .cache, .revalidated] as [Response.Source] { tally.count(source) }
        #expect(tally.text == "2 hits, 1 validated, 1 miss" && tally.isOfUse)
        tally.count(.stale)
        #expect(tally.text == "2 hits, 1 validated, 1 stale, 1 miss")
    }

    @Test("the progress line tells of it once there is something to tell")
    func progress() {
        var many = ProgressLine.Many(done: 5, failed: 0, total: nil, bytes: 0)
        #expect(ProgressLine.text(many, rate: 0, fetchRate: 0, width: 200, hasBar: false) == "5 done  0B  0B/s")
        many.cache = CacheTally(hits: 2, misses: 3)
        #expect(
            ProgressLine.text(many, rate: 0, fetchRate: 0, width: 200, hasBar: false)
                == "5 done  0B  0B/s  2 hits, 0 validated, 3 misses")
    }

    @Test("on a narrow terminal it goes before rate and time left do")
    func narrowProgress() {
        var many = ProgressLine.Many(done: 412_345, failed: 12, total: 1_000_000, bytes: 4 << 30)
        many.cache = CacheTally(hits: 20_000, validated: 100, misses: 392_233)
        #expect(
            ProgressLine.text(many, rate: 10_485_760, fetchRate: 1000, width: 80, hasBar: false)
                == "412345/1000000  12 failed  4.0G  10.0M/s  ETA 9:48")
        #expect(
            ProgressLine.text(many, rate: 10_485_760, fetchRate: 1000, width: 120, hasBar: false)
                == "412345/1000000  12 failed  4.0G  10.0M/s  ETA 9:48  20000 hits, 100 validated, 392233 misses")
    }
}

@Suite("Stores that cannot be used")
struct StoreFailureTests {
    @Test(
        "the exit status says what kind of failure it is",
        arguments: [
            (.system(SystemError(errno: EACCES, call: "open")), 77),
            (.system(SystemError(errno: EPERM, call: "open")), 77),
            (.system(SystemError(errno: EROFS, call: "open")), 74),
            (.system(SystemError(errno: EIO, call: "read")), 74),
            (.diskFull(SystemError(errno: ENOSPC, call: "write")), 74), (.damaged(path: "/p", detail: "d"), 65),
            (.newerFormat(path: "/p", found: 9, supported: 1), 78), (.unusable(path: "/p", reason: "r"), 78),
        ] as [(StoreError, Int32)])
    func statuses(error: StoreError, status: Int32) {
        let failure = CommandError(error, in: "/a\u{1b}b")
        #expect(failure.status == status && failure.message.hasPrefix("the cache in /a\\u{1b}b: "), "\(failure)")
    }

    @Test("looking at a store makes none")
    func nothing() throws {
        var template = TemporaryName.template("store")
        let made = try #require(mkdtemp(&template)).withMemoryRebound(to: CChar.self, capacity: 1) {
            String(cString: $0)
        }
        defer { rmdir(made) }
        let store = try CacheAtHand(made + "/store", budget: nil)
        #expect(store.responses == nil && store.directory == made + "/store")
        #expect(access(made + "/store", F_OK) != 0)
        store.close()
    }
}
