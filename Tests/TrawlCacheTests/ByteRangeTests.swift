import TestSupport
import Testing
import TrawlHTTP

@testable import TrawlCache

@Suite("Ranges of bytes, RFC 9110 §14")
struct ByteRangeTests {
    private func range(_ text: String) -> ByteRange? {
        Array(text.utf8).withUnsafeBytes { ByteRange(field: $0) }
    }

    @Test("single ranges are read")
    func single() {
        #expect(range("bytes=0-1") == .bounded(first: 0, last: 1))
        #expect(range("Bytes= 5-") == .from(5))
        #expect(range("bytes=-3 ") == .suffix(3))
    }

    @Test(
        "what is not one range of bytes is left to the origin",
        arguments: [
            "", "bytes", "bytes=", "bytes=-", "bytes=1", "bytes=2-1", "bytes=0-1,3-4", "items=0-1", "bytes=a-b",
            "bytes=-0", "bytes=18446744073709551615-", "bytes=0-18446744073709551615", "bytes=0--1",
        ])
    func others(text: String) {
        #expect(range(text) == nil)
    }

    @Test(
        "another unit than bytes, and what is not well formed, is ignored, RFC 9110 §14.1.1, §14.2",
        arguments: [
            ("", true), ("bytes", true), ("bytes=", true), ("bytes=-", true), ("bytes=1", true), ("bytes=2-1", true),
            ("items=0-1", true), ("bytes =0-1", true), ("bytes=a-b", true), ("bytes=0--1", true), ("bytes=0-1x", true),
            ("bytes=+0-1", true), ("bytes=-1-2", true), ("bytes=18446744073709551615-0", true), ("x", true),
            ("bytes=0-1", false), ("Bytes= 0-", false), ("bytes=-1", false), ("bytes=-0", false), ("bytes=9-", false),
            ("bytes=0-1,3-4", false), ("bytes=0-1,4-3", false), ("bytes=,", false),
            ("bytes=99999999999999999999-", false), ("bytes=0-99999999999999999999", false),
            ("bytes=18446744073709551615-", false), ("bytes=-99999999999999999999", false),
        ])
    func ignored(text: String, isIgnored: Bool) {
        #expect(Array(text.utf8).withUnsafeBytes { ByteRange.isIgnored($0) } == isIgnored)
        #expect(!isIgnored || range(text) == nil)
    }

    @Test(
        "which stored bytes a range means",
        arguments: [
            ("bytes=0-1", 0..<2), ("bytes=5-", 5..<10), ("bytes=-1", 9..<10), ("bytes=-99", 0..<10),
            ("bytes=8-99", 8..<10), ("bytes=10-", nil), ("bytes=10-12", nil),
        ] as [(String, Range<UInt64>?)])
    func complete(text: String, expected: Range<UInt64>?) {
        #expect(range(text)?.resolved(in: .complete(length: 10)) == expected)
    }

    @Test(
        "of a stored part, only what is there",
        arguments: [
            ("bytes=4-5", 4..<6), ("bytes=3-5", nil), ("bytes=6-", nil), ("bytes=-1", nil), ("bytes=7-9", nil),
            ("bytes=4-7", 4..<8),
        ] as [(String, Range<UInt64>?)])
    func part(text: String, expected: Range<UInt64>?) throws {
        let body = try #require(BodyExtent.part(first: 4, length: 4, total: 10, reachesEnd: false))
        #expect(range(text)?.resolved(in: body) == expected)
    }

    @Test("a part at the end serves what counts from the end")
    func end() throws {
        let body = try #require(BodyExtent.part(first: 4, length: 6, total: 10, reachesEnd: false))
        #expect(body.reachesEnd)
        #expect(range("bytes=6-")?.resolved(in: body) == 6..<10)
        #expect(range("bytes=-2")?.resolved(in: body) == 8..<10)
        #expect(range("bytes=-7")?.resolved(in: body) == nil)
        // Its bytes are one less than the server said.
        let short = try #require(BodyExtent.part(first: 4, length: 5, total: 10, reachesEnd: true))
        #expect(range("bytes=6-")?.resolved(in: short) == 6..<9)
        #expect(range("bytes=-2")?.resolved(in: short) == 7..<9)
        #expect(range("bytes=-5")?.resolved(in: short) == 4..<9)
        #expect(range("bytes=-6")?.resolved(in: short) == nil)
        #expect(BodyExtent.part(first: .max, length: 1, total: nil, reachesEnd: false) == nil)
        #expect(BodyExtent.part(first: 4, length: 7, total: 10, reachesEnd: true) == nil)
    }

    @Test("garbage never traps")
    func garbage() {
        var random = SeededGenerator(seed: 5)
        let pieces = ["bytes", "=", "-", ",", " ", "0", "99999999999999999999", "18446744073709551615", "7"]
        for _ in 0..<20_000 {
            let text = (0..<Int.random(in: 0...8, using: &random)).map { _ in random.pick(pieces) }.joined()
            _ = range(text)?.resolved(in: .complete(length: random.integer()))
            let isIgnored = Array(text.utf8).withUnsafeBytes { ByteRange.isIgnored($0) }
            #expect(!isIgnored || range(text) == nil, "\(text)")
        }
    }
}
