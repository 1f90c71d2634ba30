import CPlatform
import Glibc
import TestSupport
import Testing

@testable import TrawlPlatform

@Suite("Lookups of names", .timeLimit(.minutes(1)))
struct NameLookupTests {
    @Test("a lookup that was given up counts until it has ended, and no longer")
    func accounting() {
        var lookups = AbandonedLookups<Int>()
        var ended: Set<Int> = []
        func haveRoom() -> Bool { lookups.haveRoom { ended.contains($0) } }
        for number in 0..<AbandonedLookups<Int>.most {
            #expect(haveRoom())
            lookups.add(number)
        }
        #expect(!haveRoom() && !haveRoom())
        ended = [3]
        #expect(haveRoom())
        lookups.add(100)
        // Number 3 is gone for good: it could be another one's by now.
        #expect(!haveRoom())
        ended = [100]
        #expect(haveRoom())
    }

    @Test(
        "lookups can be given up one after the other, and each one ends",
        .disabled(if: Sanitizer.isPresent, "a sanitizer does not know the threads that getaddrinfo_a starts"))
    func ending() async {
        // Whether one is under way when it is given up depends on when its thread runs.
        var (ended, tries) = (0, 0)
        while ended <= AbandonedLookups<Int>.most, tries < 20_000 {
            tries += 1
            var text = [CChar](repeating: 0, count: 256)
            var left: OpaquePointer?
            let length = cplatform_resolve("localhost", 1, 0, &text, text.count, &left)
            #expect(left == nil || length == -ETIMEDOUT)
            guard let left else { continue }
            while cplatform_lookup_ended(left) == 0 { await Task.yield() }
            ended += 1
        }
        #expect(ended > 0, "none of \(tries) lookups was under way")
    }

    @Test("an address stands for itself, and what is no name for nothing")
    func addresses() {
        #expect(NameLookup.addresses(of: "192.0.2.7", ipv4Only: true, within: .seconds(10)) == "192.0.2.7")
        #expect(NameLookup.addresses(of: "a\0b", ipv4Only: true, within: .seconds(10)) == nil)
        #expect(
            NameLookup.addresses(of: String(repeating: "a", count: 256), ipv4Only: true, within: .seconds(10)) == nil)
    }
}
