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
}
