import Testing
import TrawlCoding

@Suite("Content codings, RFC 9110 §8.4")
struct ContentCodingTests {
    @Test(
        "a field value list names codings in the order of application",
        arguments: [
            ([], []),
            ([""], []),
            (["gzip"], [.gzip]),
            (["GZip"], [.gzip]),
            (["x-gzip"], [.gzip]),
            (["X-GZIP"], [.gzip]),
            (["deflate"], [.deflate]),
            (["br"], [.brotli]),
            (["identity"], [.identity]),
            (["gzip, br"], [.gzip, .brotli]),
            (["gzip,br,deflate"], [.gzip, .brotli, .deflate]),
            (["gzip", "br"], [.gzip, .brotli]),
            (["gzip, deflate", " br\t"], [.gzip, .deflate, .brotli]),
            ([" ,, gzip\t,\t, "], [.gzip]),
            ([",", "", " "], []),
            (["zstd"], [.unknown("zstd")]),
            (["ZSTD, gzip"], [.unknown("zstd"), .gzip]),
            (["compress"], [.unknown("compress")]),
            (["gzip;q=1"], [.unknown("gzip;q=1")]),
            (["gzip br"], [.unknown("gzip br")]),
            (["\u{00e9}, gzip"], [.unknown("\u{00e9}"), .gzip]),
        ] as [([String], [ContentCoding])])
    func list(values: [String], expected: [ContentCoding]) {
        #expect(ContentCoding.list(values) == expected)
    }

    @Test(
        "the coding applied last is undone first, and an unknown one stops the undoing",
        arguments: [
            ([], [], []),
            ([.gzip], [.gzip], []),
            ([.gzip, .brotli], [.brotli, .gzip], []),
            ([.identity, .gzip, .identity], [.gzip], []),
            ([.identity], [], []),
            ([.unknown("a")], [], [.unknown("a")]),
            ([.gzip, .unknown("a")], [], [.gzip, .unknown("a")]),
            ([.gzip, .identity, .unknown("a"), .brotli, .deflate], [.deflate, .brotli], [.gzip, .unknown("a")]),
        ] as [([ContentCoding], [ContentCoding], [ContentCoding])])
    func chain(codings: [ContentCoding], undone: [ContentCoding], remaining: [ContentCoding]) {
        let chain = CodingChain(codings)
        #expect(chain.undone == undone)
        #expect(chain.remaining == remaining)
    }

    @Test("names read back as the same coding", arguments: [ContentCoding.identity, .gzip, .deflate, .brotli])
    func names(coding: ContentCoding) {
        #expect(ContentCoding(name: coding.name) == coding)
    }
}
