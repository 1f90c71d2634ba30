import Testing
import TrawlHTTP

@testable import TrawlCache

@Suite("Entity tags, RFC 9110 §8.8.3")
struct EntityTagTests {
    private func compare(
        _ left: String, _ right: String, _ rule: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) -> Bool
    ) -> Bool {
        Array(left.utf8).withUnsafeBytes { left in Array(right.utf8).withUnsafeBytes { rule(left, $0) } }
    }

    @Test(
        "comparisons",
        arguments: [
            ("W/\"1\"", "W/\"1\"", true, false), ("W/\"1\"", "W/\"2\"", false, false),
            ("W/\"1\"", "\"1\"", true, false),
            ("\"1\"", "\"1\"", true, true), ("\"é\"", "\"é\"", true, true), ("abc", "abc", true, false),
            ("abc", "\"abc\"", false, false), ("W\\\"1\"", "W\\\"1\"", true, false), ("w/\"1\"", "\"1\"", false, false),
        ])
    func comparisons(left: String, right: String, weakly: Bool, strongly: Bool) {
        #expect(compare(left, right, EntityTag.areWeaklyEqual) == weakly)
        #expect(compare(left, right, EntityTag.areStronglyEqual) == strongly)
    }

    @Test("lists of tags, with commas inside of some")
    func lists() {
        let asked = fields([("If-None-Match", "\"a,b\", W/\"c\""), ("if-none-match", "d")])
        #expect(EntityTag.count(in: asked) == 3)
        for tag in ["\"a,b\"", "\"c\"", "d"] {
            #expect(Array(tag.utf8).withUnsafeBytes { EntityTag.isListed($0, in: asked) })
        }
        #expect(!Array("\"a\"".utf8).withUnsafeBytes { EntityTag.isListed($0, in: asked) })
        let backslash = fields([("If-None-Match", "\"a\\\", \"b,c\" ,, \"d")])
        #expect(EntityTag.count(in: backslash) == 3)
        for tag in ["\"a\\\"", "\"b,c\"", "\"d"] {
            #expect(Array(tag.utf8).withUnsafeBytes { EntityTag.isListed($0, in: backslash) }, "\(tag)")
        }
        #expect(!EntityTag.isAny(in: asked))
        #expect(EntityTag.isAny(in: fields([("If-None-Match", "*")])))
    }
}
