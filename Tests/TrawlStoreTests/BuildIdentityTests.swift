import Testing
import TrawlProtocol

@testable import TrawlCache
@testable import TrawlSession
@testable import TrawlStore

@Suite("What coordinator and worker compare before they work on one store")
struct BuildIdentityTests {
    @Test("it names the formats of all that both of them write")
    func formats() {
        /// The version at the end of eight letters.
        func version(_ magic: UInt64) -> Int { Int(magic >> 56) - 0x30 }
        let formats = [
            "cache \(CacheSchema.format)", "record \(RecordFrame.format)", "header \(StoredView.version)",
            "uses \(version(UseClock.magic))", "turns \(version(WriterTurn.magic))", "state \(StateSchema.format)",
            "cookie \(CookieView.version)", "host \(HostTable.version)",
        ]
        #expect(BuildIdentity.formats == formats.joined(separator: ", "))
        #expect(BuildIdentity.text.hasPrefix(BuildIdentity.name) && BuildIdentity.text.contains(BuildIdentity.formats))
    }
}
