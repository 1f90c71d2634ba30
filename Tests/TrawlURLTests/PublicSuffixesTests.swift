import Testing

@testable import TrawlURL

@Suite("Public suffixes by libpsl")
struct PublicSuffixesTests {
    private func isPublic(_ domain: String) -> Bool {
        Array(domain.utf8).withUnsafeBytes(PublicSuffixes.contains)
    }

    @Test(
        "domains of the list, of owners, and of nobody's rule",
        .enabled(if: PublicSuffixes.isListed, "libpsl5 is not installed"),
        arguments: [
            ("com", true), ("co.uk", true), ("example.co.uk", false), ("example.com", false), ("github.io", true),
            ("a.github.io", false), ("xn--55qx5d.cn", true), ("intranet", true), ("a.intranet", false), ("ck", true),
            ("a.ck", true), ("www.ck", false), ("localhost", true),
        ])
    func domains(domain: String, isSuffix: Bool) {
        #expect(isPublic(domain) == isSuffix)
    }

    @Test("odd names have an answer")
    func odd() {
        _ = isPublic("")
        #expect(!isPublic("a.b"))
        #expect(!isPublic(String(repeating: "a.", count: 100) + "example.com"))
        #expect(!isPublic(String(repeating: "a", count: 10_000) + ".com"))
        #expect(!isPublic("\u{1}.\u{FF}.com"))
    }
}
