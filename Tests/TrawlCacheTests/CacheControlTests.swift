import TestSupport
import Testing
import TrawlHTTP

@testable import TrawlCache

@Suite("Directives of Cache-Control, RFC 9111 §5.2")
struct CacheControlTests {
    private func read(_ lines: String...) -> CacheControl {
        var control = CacheControl()
        for line in lines { Array(line.utf8).withUnsafeBytes { control.read($0) } }
        return control
    }

    @Test(
        "seconds of max-age",
        arguments: [
            ("max-age=60", .value(60)), ("MAX-AGE=60", .value(60)), ("public,max-age=60 , x", .value(60)),
            ("max-age=\"60\"", .value(60)), ("max-age=0", .value(0)), ("max-age=2147483649", .value(2_147_483_648)),
            ("max-age=99999999999999999999999", .value(2_147_483_648)), ("max-age=60, max-age=1", .value(60)),
            ("max-age=-60", .invalid), ("max-age=60.5", .invalid), ("max-age=60a", .invalid),
            ("max-age= 60", .invalid), ("max-age =60", .invalid), ("max-age", .invalid), ("max-age=", .invalid),
            ("max-age=\"\"", .invalid), ("max-age='60'", .invalid), ("max-age=\"60", .value(60)),
            ("x=\"max-age=60\"", .absent), ("x=\"a, max-age=60\"", .absent),
            ("x=\"a\\\", max-age=60\"", .absent), ("\"max-age=60\"", .absent), ("x-max-age=60", .absent),
            ("s-maxage=60", .absent), ("", .absent), (",,", .absent), ("=60", .absent),
            ("a b, max-age=60", .value(60)), ("@, max-age=60", .value(60)),
        ] as [(String, CacheControl.Seconds)])
    func maxAge(line: String, seconds: CacheControl.Seconds) {
        #expect(read(line).maxAge == seconds)
    }

    @Test(
        "directives that are there or not",
        arguments: [
            ("no-cache", .noCache), ("no-cache=\"a, b\"", .noCacheFields), ("no-cache=\"\"", .noCache),
            ("No-StOrE", .noStore), ("must-revalidate", .mustRevalidate), ("must-understand", .mustUnderstand),
            ("public", .isPublic), ("private", .isPrivate), ("private=\"a\"", []), ("immutable", .immutable),
            ("only-if-cached", .onlyIfCached), ("s-maxage=1", .sMaxage), ("max-stale", .maxStaleAny),
            ("max-stale=5", []), ("no-store, no-cache", [.noStore, .noCache]), ("proxy-revalidate", []),
        ] as [(String, CacheControl.Flags)])
    func flags(line: String, flags: CacheControl.Flags) {
        #expect(read(line).flags == flags)
    }

    @Test("several lines are one list")
    func lines() {
        let control = read("no-store", "max-age=5", "max-age=6, stale-if-error=7, min-fresh=8, max-stale=9")
        #expect(control.flags == .noStore)
        #expect(control.maxAge == .value(5))
        #expect(control.staleIfError == .value(7))
        #expect(control.minFresh == .value(8))
        #expect(control.maxStale == .value(9))
        #expect(read("stale-while-revalidate=3").staleWhileRevalidate == .value(3))
    }

    @Test("fields named by no-cache")
    func noCacheFields() {
        var names: [String] = []
        Array("max-age=1, no-cache=\"Set-Cookie,  b ,,\", x".utf8).withUnsafeBytes { line in
            CacheControl.forEachNoCacheField(line) { names.append(FieldLines.text($0)) }
        }
        #expect(names == ["Set-Cookie", "b"])
    }

    @Test("garbage never traps and ends")
    func garbage() {
        var random = SeededGenerator(seed: 3)
        let pieces = ["max-age", "=", "\"", "\\", ",", " ", "no-cache", "60", ";", "\u{1}", "é"]
        for _ in 0..<20_000 {
            let text = (0..<Int.random(in: 0...10, using: &random)).map { _ in random.pick(pieces) }.joined()
            _ = read(text)
            Array(text.utf8).withUnsafeBytes { CacheControl.forEachNoCacheField($0) { _ in } }
        }
    }
}
