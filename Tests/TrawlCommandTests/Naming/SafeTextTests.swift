import Testing

@testable import TrawlCommand

@Suite("What texts may show and name")
struct SafeTextTests {
    @Test(
        "a list names files by bytes: no combining character hides a slash",
        arguments: [
            ("a/b", true), ("../\u{301}x", false), ("..\u{301}/x", true), ("a/\u{301}", true), ("/a", false),
            ("/\u{301}a", false), ("a//b", false), ("a/..", false), ("", false),
        ])
    func staysInside(path: String, expected: Bool) {
        #expect(LocalPath.staysInside(path) == expected)
    }
}
