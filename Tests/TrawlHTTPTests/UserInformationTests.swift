import Testing

@testable import TrawlHTTP

@Suite("User information of texts that may be URLs")
struct UserInformationTests {
    @Test(
        "user information is taken out of the authority, and nothing else",
        arguments: [
            ("http://a:b@h/", "http://h/"), ("https://a@h", "https://h"), ("http://@h/", "http://h/"),
            ("http://a@b@h/x?y#z", "http://h/x?y#z"), ("http://h/a@b", "http://h/a@b"),
            ("http://h?a@b", "http://h?a@b"),
            ("http://h#a@b", "http://h#a@b"), ("a:b", "a:b"), ("", ""), ("@", ""),
            ("http://h:80/a@b", "http://h:80/a@b"), ("http://h:/a@b", "http://h:/a@b"),
            ("http://h:65535/a@b", "http://h:65535/a@b"), ("http://h:00080/a@b", "http://h:00080/a@b"),
            ("h:80/a@b", "h:80/a@b"),
            ("http://[::1]/x@y", "http://[::1]/x@y"), ("http://[::1]:80?x@y", "http://[::1]:80?x@y"),
            ("http://u:p@[::1]:80/x@y", "http://[::1]:80/x@y"), ("http://u:p@h:80/a@b", "http://h:80/a@b"),
        ])
    func removed(url: String, expected: String) {
        #expect(UserInformation.removed(from: url) == expected)
    }

    @Test(
        "no combining character hides user information, or makes a part of the path one",
        arguments: [
            ("http://user:secret@\u{301}host/", "http://\u{301}host/"),
            ("http://u:p/\u{301}@h", "http://h"), ("http://u:\u{301}p@h/", "http://h/"),
            ("http://127.0.0.1:2/\u{301}@x", "http://127.0.0.1:2/\u{301}@x"),
            ("http://h?\u{301}a@b", "http://h?\u{301}a@b"), ("http://h#\u{301}a@b", "http://h#\u{301}a@b"),
        ])
    func combining(url: String, expected: String) {
        #expect(Array(UserInformation.removed(from: url).utf8) == Array(expected.utf8))
    }

    @Test("user information is found wherever it stands, and no other byte is taken for a sign", arguments: 0..<20)
    func places(length: Int) {
        for rest in 0..<20 {
            let (user, host) = (String(repeating: "A", count: length), String(repeating: "B", count: rest))
            #expect(UserInformation.removed(from: user + "@" + host) == host)
            #expect(UserInformation.removed(from: user + "?" + host) == user + "?" + host)
        }
    }

    @Test(
        "what is refused as a URL shows no password either",
        arguments: [
            ("http:///u:secret3@127.0.0.1:1/", "http:///127.0.0.1:1/"), ("https:/u:pw@h/", "https:/h/"),
            ("https:////u:pw@h/", "https:////h/"), ("https:u:pw@h/", "h/"),
            (#"http:\\u:pw@h/"#, #"http:\\h/"#), (#"http:/\u:pw@h/"#, #"http:/\h/"#),
            (#"http://u:p\w@h/"#, "http://h/"), ("//u:pw@h/", "//h/"), (" http://u:pw@h/", " http://h/"),
            ("u:pw@h/x", "h/x"), ("mailto:a@b", "b"),
        ])
    func refused(url: String, expected: String) {
        #expect(UserInformation.removed(from: url) == expected)
    }

    @Test(
        "a password may hold what ends an authority, which names no port then",
        arguments: [
            ("http://u:p/w@h/", "http://h/"), ("http://u:p?w@h/", "http://h/"), ("http://u:p#w@h/", "http://h/"),
            ("u:p/w@h", "h"), ("http://u:123456/w@h/", "http://h/"), ("http://u:0?w@h/", "http://h/"),
            ("http://u:1p/w@h:80/", "http://h:80/"), ("http://u:p:1/w@h/", "http://h/"),
            ("http://u:p/w@v@h/", "http://h/"), ("http://u:p@v:w/x@h/", "http://h/"),
            ("http://u:[p]/w@h/", "http://h/"), ("http://[u]p:w/x@h/", "http://h/"), ("http:/u:p/w@h/", "http:/h/"),
            ("//u:p/w@h/", "//h/"), ("data:a/b@c", "c"), ("http://h:x/a@b", "http://b"),
        ])
    func refusedPort(url: String, expected: String) {
        #expect(UserInformation.removed(from: url) == expected)
    }

    @Test(
        "a URL as it stands may have a scheme without an authority, and is left as it is",
        arguments: [
            "mailto:x@y", "MailTo:x@y?subject=a:b", "javascript:a@b/c", "data:text/plain,a@b", "tel:1@b",
            "sip:a@h:5060", "SIPS:a@h", "xmpp:a@b/c:d", "urn:isbn:a@b", "about:a@b", "blob:null/a@b", "mailto:@",
            "http://h/a@b", "",
        ])
    func whole(url: String) {
        #expect(UserInformation.removed(fromURL: url) == url)
        #expect(UserInformation.user(inURL: url) == nil)
    }

    @Test(
        "what may be a password is left out of it all the same",
        arguments: [
            ("mailto:/u:p@h", "mailto:/h"), ("javascript://u:p@h/", "javascript://h/"), (#"data:\u:p@h"#, #"data:\h"#),
            ("sip:u:p@h", "h"), ("blob:https://u:p@h/x", "h/x"), ("data:text/html,<a href='http://u:p@h/'>", "h/'>"),
            ("urn:a:b:p@h", "h"), ("u:p@h", "h"), ("mailtox:p@h", "h"), ("mail:p@h", "h"), ("ftp:u@h", "h"),
            ("http:mailto:p@h", "h"), (":p@h", "h"), ("@h", "h"), ("http://mailto:p@h/", "http://h/"),
            ("http://u:p@h/", "http://h/"), ("http://u:p/w@h/", "http://h/"),
        ])
    func wholeWithPassword(url: String, expected: String) {
        #expect(UserInformation.removed(fromURL: url) == expected)
        #expect(UserInformation.removed(from: url) == expected)
        #expect(UserInformation.user(inURL: url) == UserInformation.user(in: url))
    }

    @Test(
        "a URL names its user before the first colon, as it is written",
        arguments: [
            ("http://a:b@h/", "a"), ("http://a@h", "a"), ("http://a:b:c@h", "a"), ("http://a@b@h", "a@b"),
            ("http://%61:b@h", "%61"), ("http://a:b/c@h", "a"),
            ("http://:b@h", ""), ("http://h/a@b", nil), ("http://h:80/", nil),
        ] as [(String, String?)])
    func user(url: String, expected: String?) {
        #expect(UserInformation.user(in: url) == expected)
    }
}
