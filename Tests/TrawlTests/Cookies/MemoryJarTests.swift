import Testing
import TrawlSession
import TrawlStore

@testable import Trawl

@Suite("Cookie jars in memory")
struct MemoryJarTests {
    @Test("each has the limits of a store (RFC 6265bis §6.1)")
    func limits() {
        #expect(MemoryJar().withJar { $0.limits } == CookieTable.limits)
    }

    @Test("each kind and name has one, also where two names are one to Unicode")
    func names() {
        let jars = MemoryJars()
        let kinds: [RequestOptions.Cookies.Jar] = [
            .shared, .named("shared"), .memory("shared"), .named("e\u{301}"), .named("\u{E9}"), .memory("e\u{301}"),
        ]
        let made = kinds.map { jars.jar($0) }
        #expect(Set(made.map { ObjectIdentifier($0) }).count == kinds.count)
        #expect(zip(kinds, made).allSatisfy { jars.jar($0) === $1 })
    }
}
