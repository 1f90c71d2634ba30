import Testing
import TrawlHTTP

@Suite("Methods, RFC 9110 §9")
struct MethodTests {
    @Test("any token is a method", arguments: ["GET", "get", "M-SEARCH", "X!#$%&'*+.^_`|~9"])
    func tokens(name: String) {
        #expect(Method(name)?.name == name)
    }

    @Test("what is no token is no method", arguments: ["", " GET", "GET ", "G ET", "GET\r\n", "GÉT", "GET\0", "GET/"])
    func others(name: String) {
        #expect(Method(name) == nil)
    }

    @Test("the case of a method counts")
    func caseCounts() {
        #expect(Method("GET") == .get)
        #expect(Method("get") != .get)
    }

    @Test(
        "safe and idempotent methods, and those that announce an empty body",
        arguments: [
            (.get, true, true, false), (.head, true, true, false), (.options, true, true, false),
            (.trace, true, true, false), (.put, false, true, true), (.delete, false, true, false),
            (.post, false, false, true), (.patch, false, false, true),
        ] as [(Method, Bool, Bool, Bool)])
    func properties(method: Method, safe: Bool, idempotent: Bool, announces: Bool) {
        #expect(method.isSafe == safe)
        #expect(method.isIdempotent == idempotent)
        #expect(method.announcesEmptyBody == announces)
    }

    @Test("nothing is assumed of an unknown method")
    func unknown() throws {
        let method = try #require(Method("PURGE"))
        #expect(!method.isSafe)
        #expect(!method.isIdempotent)
    }
}
