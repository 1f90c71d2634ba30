import Testing
import TrawlProtocol

@testable import TrawlTransfer

@Suite("Ends wait for their commits")
struct HeldEndsTests {
    /// The ends of a loop; what changes them also tells something.
    private final class Loop {
        var ends = HeldEnds()

        /// The lease whose end a commit sets free, and whether its response is stored.
        func commits(_ number: UInt64, isStored: Bool) -> (lease: UInt64, isStored: Bool)? {
            ends.committed(number, isStored: isStored).map { ($0.told.lease, $0.told.cache.isStored) }
        }

        func overdue(at now: UInt64) -> [UInt64] { ends.overdue(at: now).map(\.told.lease) }

        func takeLostChange() -> Bool { ends.takeLostChange() }
    }

    private func end(_ lease: UInt64, commit: UInt64?, changes: [UInt64] = [], deadline: UInt64 = 100) -> HeldEnd {
        HeldEnd(
            LeaseEnd(lease: lease, outcome: .complete(.discarded(length: 0))), descriptor: nil, progressIndex: 0,
            counted: nil, commit: commit, changes: changes, deadline: deadline)
    }

    @Test("an end is told with the commit of its response, and whether that was carried out", arguments: [true, false])
    func response(isStored: Bool) {
        let loop = Loop()
        loop.ends.hold(end(7, commit: 1))
        #expect(loop.ends.count == 1)
        #expect(loop.commits(2, isStored: true) == nil)
        let told = loop.commits(1, isStored: isStored)
        #expect(told?.lease == 7 && told?.isStored == isStored)
        #expect(loop.ends.count == 0)
        #expect(!loop.takeLostChange())
    }

    @Test("what travels with ends that wait is known, once each, until they are told")
    func descriptors() {
        let loop = Loop()
        loop.ends.began(2)
        loop.ends.hold(
            HeldEnd(
                LeaseEnd(lease: 7, outcome: .complete(.memory(length: 1))), descriptor: 5, progressIndex: 0,
                counted: nil, commit: 1, changes: [2], deadline: 100))
        loop.ends.hold(end(8, commit: 3))
        #expect(loop.ends.descriptors == [5])
        _ = loop.commits(1, isStored: true)
        _ = loop.commits(2, isStored: true)
        #expect(loop.ends.descriptors.isEmpty)
    }

    @Test("one that waits for several is told after the last, in whatever order they come", arguments: 0..<6)
    func several(order: Int) {
        let orders: [[UInt64]] = [[1, 2, 3], [1, 3, 2], [2, 1, 3], [2, 3, 1], [3, 1, 2], [3, 2, 1]]
        let loop = Loop()
        loop.ends.began(2)
        loop.ends.began(3)
        loop.ends.hold(end(7, commit: 1, changes: loop.ends.open(among: [2, 3])))
        for (place, number) in orders[order].enumerated() {
            let told = loop.commits(number, isStored: number != 2)
            #expect((told == nil) == (place < 2))
            if let told { #expect(told.isStored) }
        }
        #expect(loop.ends.count == 0 && loop.ends.open(among: [1, 2, 3]).isEmpty)
        #expect(loop.takeLostChange())
        #expect(!loop.takeLostChange())
    }

    @Test("a change that is committed before the end comes is not waited for")
    func early() {
        let loop = Loop()
        loop.ends.began(1)
        loop.ends.began(2)
        #expect(loop.ends.open(among: [1, 2]) == [1, 2])
        #expect(loop.commits(1, isStored: true) == nil)
        #expect(loop.ends.open(among: [1, 2]) == [2])
    }

    @Test("what takes too long is told without it, once, and the commit that comes late is no harm")
    func overdue() {
        let loop = Loop()
        loop.ends.began(2)
        loop.ends.hold(end(7, commit: 1, changes: [2], deadline: 100))
        loop.ends.hold(end(8, commit: 3, deadline: 101))
        #expect(loop.overdue(at: 99).isEmpty)
        #expect(loop.overdue(at: 100) == [7])
        #expect(loop.ends.count == 1)
        #expect(loop.commits(1, isStored: true) == nil)
        #expect(loop.commits(2, isStored: false) == nil)
        #expect(!loop.takeLostChange())
        #expect(loop.commits(3, isStored: true)?.lease == 8)
    }
}
