import Testing
import TrawlSupervision

@testable import Trawl

@Suite("The life of a fetch, every event in every state, ASI-CAN-03")
struct FetchLifeTests {
    private let lease = LeaseID(rawValue: 7)
    private let other = LeaseID(rawValue: 8)

    @Test("one that waits is withdrawn when it has to be answered")
    func waiting() {
        var life = FetchLife()
        #expect(life.isWaiting && !life.isAnswered && life.activeLease == nil)
        #expect(life.leaseEnded(lease) == .none)
        #expect(life.concluded(waitsForWorker: false) == .answerAndWithdraw)
        #expect(life.isAnswered)
    }

    @Test("one in flight is cancelled when it has to be answered, and forgotten when its lease ends")
    func leased() {
        var life = FetchLife()
        life.leased(lease)
        #expect(life.activeLease == lease && !life.isWaiting)
        #expect(life.leaseEnded(other) == .none)
        #expect(life.concluded(waitsForWorker: false) == .answerAndCancel(lease))
        #expect(life.isAnswered && life.activeLease == nil)
        #expect(life.concluded(waitsForWorker: false) == .none)
        #expect(life.leaseEnded(other) == .none)
        #expect(life.leaseEnded(lease) == .forget)
        #expect(life.leaseEnded(lease) == .none)
        #expect(life.concluded(waitsForWorker: false) == .none)
    }

    @Test("one whose worker is to stop first is answered when that has, once")
    func ending() {
        var life = FetchLife()
        #expect(life.concluded(waitsForWorker: true) == .answerAndWithdraw)
        life = FetchLife()
        life.leased(lease)
        #expect(life.concluded(waitsForWorker: true) == .cancel(lease))
        #expect(!life.isAnswered && life.activeLease == lease && !life.isWaiting)
        #expect(life.concluded(waitsForWorker: true) == .none)
        #expect(life.leaseEnded(other) == .none)
        #expect(life.leaseEnded(lease) == .finish)
        life.answered()
        #expect(life.isAnswered)
        #expect(life.leaseEnded(lease) == .none)
        #expect(life.concluded(waitsForWorker: true) == .none)
    }

    @Test("there may be no time to wait for its worker any more")
    func noMoreTime() {
        var life = FetchLife()
        life.leased(lease)
        #expect(life.concluded(waitsForWorker: true) == .cancel(lease))
        #expect(life.concluded(waitsForWorker: false) == .answerAndCancel(lease))
        #expect(life.isAnswered)
        #expect(life.leaseEnded(lease) == .forget)
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
        #expect(life.concluded(waitsForWorker: false) == .none)
        #expect(life.leaseEnded(other) == .none)
    }
}
