import Testing
import TrawlSupervision

@testable import Trawl

@Suite("The life of a fetch, every event in every state")
struct FetchLifeTests {
    private let lease = LeaseID(rawValue: 7)
    private let other = LeaseID(rawValue: 8)

    @Test("one that waits is withdrawn when it has to be answered")
    func waiting() {
        var life = FetchLife()
        #expect(life.isWaiting && !life.isAnswered && life.activeLease == nil)
        #expect(life.leaseEnded(lease) == .none)
        #expect(life.concluded() == .answerAndWithdraw)
        #expect(life.isAnswered)
    }

    @Test("one in flight is cancelled when it has to be answered, and forgotten when its lease ends")
    func leased() {
        var life = FetchLife()
        life.leased(lease)
        #expect(life.activeLease == lease && !life.isWaiting)
        #expect(life.leaseEnded(other) == .none)
        #expect(life.concluded() == .answerAndCancel(lease))
        #expect(life.isAnswered && life.activeLease == nil)
        #expect(life.concluded() == .none)
        #expect(life.leaseEnded(other) == .none)
        #expect(life.leaseEnded(lease) == .forget)
        #expect(life.leaseEnded(lease) == .none)
        #expect(life.concluded() == .none)
    }

    @Test("the end of its lease counts once, and it may go on with another")
    func again() {
        var life = FetchLife()
        life.leased(lease)
        #expect(life.leaseEnded(lease) == .accept)
        #expect(life.leaseEnded(lease) == .none)
        #expect(life.isWaiting)
        life.leased(other)
        #expect(life.leaseEnded(lease) == .none)
        #expect(life.leaseEnded(other) == .accept)
        life.answered()
        #expect(life.isAnswered)
        #expect(life.concluded() == .none)
        #expect(life.leaseEnded(other) == .none)
    }
}
