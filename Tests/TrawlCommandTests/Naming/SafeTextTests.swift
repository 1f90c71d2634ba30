import Testing

@testable import TrawlCommand

@Suite("What texts may show and name")
struct SafeTextTests {
    @Test(
        "user information is taken out of the authority, and nothing else",
        arguments: [
            ("http://a:b@h/", "http://h/"), ("https://a@h", "https://h"), ("http://@h/", "http://h/"),
            ("http://a@b@h/x?y#z", "http://h/x?y#z"), ("http://h/a@b", "http://h/a@b"),
            ("http://h?a@b", "http://h?a@b"),
            ("http://h#a@b", "http://h#a@b"), ("mailto:a@b", "mailto:a@b"),
        ])
    func withoutUserInformation(url: String, expected: String) {
        #expect(URLText.withoutUserInformation(url) == expected)
    }

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
