import Testing
import TrawlSession

@testable import Trawl

@Suite("Digests of what a fetch sends")
struct BodyDigestsTests {
    @Test("one is made for each body and hash, however often it is asked for; what failed is tried again")
    func once() {
        var digests = BodyDigests()
        var made = 0
        func digest(_ body: FetchPlan.Body, _ hash: DigestAlgorithm.Hash) -> [UInt8]? {
            digests.digest(of: body, by: hash) {
                made += 1
                return [UInt8(made)]
            }
        }
        #expect(digest(.inline([1, 2]), .md5) == [1] && digest(.inline([1, 2]), .md5) == [1])
        #expect(digest(.inline([1, 2]), .sha256) == [2] && digest(.inline([1, 2]), .md5) == [1])
        #expect(digest(.inline([1, 3]), .sha256) == [3] && digest(.inline([1, 3]), .sha256) == [3])
        #expect(digest(.none, .md5) == [4] && digest(.none, .md5) == [4])
        #expect(digests.digest(of: .none, by: .sha256) { nil } == nil)
        #expect(digest(.none, .sha256) == [5])
    }
}
