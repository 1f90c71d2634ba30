import Testing
import TrawlCache
import TrawlHTTP

@Suite("Cache keys, RFC 9111 §2, RFC 3986 §6.2.2, ASI-CACHE-24")
struct CacheKeyTests {
    @Test(
        "percent-encodings have one spelling",
        arguments: [
            ("http://h/", "http://h/"),
            // RFC 3986 §6.2.2.1.
            ("http://h/%c3%A9", "http://h/%C3%A9"),
            // RFC 3986 §6.2.2.2: what needs no encoding.
            ("http://h/%7Euser/%41%7a%30%2d%2E%5f?%61=%62", "http://h/~user/Az0-._?a=b"),
            // What is reserved means something else when it is not encoded (RFC 3986 §2.2).
            ("http://h/a%2fb%3Fc%23d%26", "http://h/a%2Fb%3Fc%23d%26"),
            ("http://h/%25%20%00%ff", "http://h/%25%20%00%FF"),
            // The result of one is no part of another.
            ("http://h/%2541", "http://h/%2541"),
            ("http://h/%", "http://h/%"), ("http://h/%4", "http://h/%4"), ("http://h/%zz%7e%", "http://h/%zz~%"),
            ("http://h/é", "http://h/é"),
        ])
    func normalised(url: String, key: String) {
        #expect(CacheKey.normalised(url) == key)
        #expect(CacheKey.normalised(key) == key)
        #expect(CacheKey(target(url)).text == key)
        #expect(target(url).text == url)
    }

    @Test("a response is found under every spelling of its URI, and under no other")
    func found() {
        let stored = stored([("Cache-Control", "max-age=60")], for: request(to: "http://example.org/%7ea%c3%a9"))
        for url in ["http://example.org/~a%C3%A9", "http://example.org/%7Ea%c3%A9"] {
            #expect(word(lookUp(request(to: url), stored, at: after(1))) == "cache", "\(url)")
        }
        for url in ["http://example.org/~A%C3%A9", "http://example.org/~a%c3", "http://example.org/~aé"] {
            #expect(word(lookUp(request(to: url), stored, at: after(1))) != "cache", "\(url)")
        }
    }
}
