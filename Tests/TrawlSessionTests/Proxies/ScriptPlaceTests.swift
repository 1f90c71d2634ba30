import Testing

@testable import TrawlSession

@Suite("Places of proxy scripts, ASI-PRX-05")
struct ScriptPlaceTests {
    @Test(
        "user information of a URL is neither written down nor shown",
        arguments: [
            ("http://me:pw@h.test/p.pac", "http://h.test/p.pac"), ("HTTPS://me@h.test:8/p", "HTTPS://h.test:8/p"),
            ("http://me:p@w@h.test", "http://h.test"), ("http://me:p/w@h.test/p", "http://h.test/p"),
            ("http://me:pw@h.test?a@b", "http://h.test?a@b"),
            ("ftp://me:pw@h.test/x", "ftp://h.test/x"), ("file://me:pw@h.test/x", "file://h.test/x"),
            ("http:/me:pw@h.test/x", "http:/h.test/x"), ("http:///me:pw@h.test/x", "http:///h.test/x"),
            ("http://h.test/a@b:c", "http://h.test/a@b:c"), ("http://[::1]/p.pac", "http://[::1]/p.pac"),
            ("file:///a:b@c/p.pac", "file:///a:b@c/p.pac"), ("/a:b@c/p.pac", "/a:b@c/p.pac"), ("p@2.pac", "p@2.pac"),
            ("./a:b@c", "./a:b@c"), ("", ""),
        ])
    func urls(place: String, expected: String) {
        #expect(ScriptPlace.withoutUser(place) == expected)
        #expect(ScriptPlace.shown(place) == expected)
    }

    @Test(
        "a path stays what it is, and is shown without what may be a password",
        arguments: ["me:pw@h/p", "a:pw@b", "me:p/pw@h/p", "me:p?pw@h/p", "me:p#pw@h/p"])
    func paths(place: String) {
        #expect(ScriptPlace.withoutUser(place) == place)
        #expect(!ScriptPlace.shown(place).contains("pw"))
    }
}
