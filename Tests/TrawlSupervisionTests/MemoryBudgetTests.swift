import Testing

@testable import TrawlSupervision

@Suite("Memory for bodies")
struct MemoryBudgetTests {
    private func budget() -> MemoryBudget { MemoryBudget(limit: 1000, free: 10) }

    private func lease(_ number: UInt64) -> LeaseID { LeaseID(rawValue: number) }

    private func grant(_ number: UInt64, _ bytes: Int) -> MemoryBudget.Grant {
        MemoryBudget.Grant(lease: lease(number), bytes: bytes)
    }

    @Test("a body of known length gets room for all of it at once, less what it had")
    func whole() {
        var budget = budget()
        budget.wanted(lease(1), holding: 5, total: 300, isWhole: true)
        #expect(budget.isAwaited)
        #expect(budget.grants() == [grant(1, 290)])
        #expect(budget.held == 300 && !budget.isAwaited)
        budget.ended(lease(1))
        #expect(budget.held == 0)
    }

    @Test("what does not fit waits until something is let go, and the eldest comes first")
    func waits() {
        var budget = budget()
        for number: UInt64 in 1...4 { budget.wanted(lease(number), holding: 10, total: 400, isWhole: true) }
        #expect(budget.grants() == [grant(1, 390), grant(2, 390)])
        let waited = budget.ended(lease(1))
        #expect(!waited)
        budget.handedOver(400)
        #expect(budget.grants() == [])
        budget.letGo(400)
        #expect(budget.grants() == [grant(3, 390)])
        let waitedLast = budget.ended(lease(4))
        #expect(waitedLast && !budget.isAwaited)
    }

    @Test("a body longer than the budget goes alone")
    func alone() {
        var budget = budget()
        budget.wanted(lease(1), holding: 10, total: 600, isWhole: true)
        #expect(budget.grants() == [grant(1, 590)])
        budget.wanted(lease(2), holding: 10, total: 5000, isWhole: true)
        budget.wanted(lease(3), holding: 10, total: 600, isWhole: true)
        #expect(budget.grants() == [])
        budget.ended(lease(1))
        budget.handedOver(600)
        #expect(budget.grants() == [])
        budget.letGo(600)
        #expect(budget.grants() == [grant(2, 4990)])
        #expect(budget.held == 5000)
        budget.ended(lease(2))
        budget.handedOver(5000)
        #expect(!budget.admitsLease)
        budget.letGo(5000)
        #expect(budget.grants() == [grant(3, 590)])
    }

    @Test("younger bodies pass one that does not fit, up to one budget in all")
    func passing() {
        var budget = budget()
        budget.wanted(lease(1), holding: 10, total: 500, isWhole: true)
        budget.wanted(lease(2), holding: 10, total: 900, isWhole: true)
        #expect(budget.grants() == [grant(1, 490)])
        var passed = 0
        for number: UInt64 in 10..<30 {
            budget.wanted(lease(number), holding: 10, total: 100, isWhole: true)
            if !budget.grants().isEmpty { passed += 1 }
            budget.ended(lease(number))
        }
        #expect(passed == 10)
        // As long as the first is there, no lease less would help the second.
        #expect(budget.admitsLease)
        budget.ended(lease(1))
        #expect(!budget.admitsLease)
        #expect(budget.grants() == [grant(2, 890)])
        #expect(budget.admitsLease)
    }

    @Test("bodies of unknown length cannot hold up one another: one of them goes on")
    func parts() {
        var budget = budget()
        var totals: [UInt64: Int] = [1: 100, 2: 100, 3: 100]
        for number: UInt64 in 1...3 { budget.wanted(lease(number), holding: 10, total: 100, isWhole: false) }
        var finished: [UInt64] = []
        // Each is of 2,000 bytes, and asks for 100 more as often as it is granted some.
        while !totals.isEmpty {
            let grants = budget.grants()
            guard !grants.isEmpty else {
                Issue.record("all of them wait")
                return
            }
            for grant in grants {
                let number = grant.lease.rawValue
                let total = totals[number] ?? 0
                if total >= 2000 {
                    budget.ended(grant.lease)
                    totals[number] = nil
                    finished.append(number)
                } else {
                    totals[number] = total + 100
                    budget.wanted(grant.lease, holding: total, total: total + 100, isWhole: false)
                }
            }
            #expect(budget.held <= 2000 + 500)
        }
        #expect(finished == [1, 2, 3])
        #expect(budget.held == 0)
    }

    @Test("a second wish takes the place of the first, and more than was granted counts")
    func again() {
        var budget = budget()
        budget.wanted(lease(1), holding: 10, total: 100, isWhole: false)
        budget.wanted(lease(1), holding: 10, total: 200, isWhole: false)
        #expect(budget.grants() == [grant(1, 190)])
        budget.wanted(lease(1), holding: 900, total: 1000, isWhole: false)
        #expect(budget.held == 900)
        #expect(budget.grants() == [grant(1, 800)])
        #expect(budget.held == 1000)
    }

    @Test("leases are granted as long as there is room, and beside a body that fills it while short ones are taken")
    func leases() {
        var budget = budget()
        #expect(budget.admitsLease)
        budget.wanted(lease(1), holding: 10, total: 2000, isWhole: true)
        #expect(budget.grants() == [grant(1, 1990)])
        #expect(budget.admitsLease)
        budget.handedOver(130)
        #expect(!budget.admitsLease)
        budget.letGo(130)
        budget.wanted(lease(2), holding: 10, total: 20, isWhole: true)
        #expect(budget.grants() == [])
        #expect(budget.admitsLease)
        // What is short passes it, up to one budget in all, and on as long as its turn does not come by that.
        for _ in 0..<100 {
            budget.handedOver(10)
            budget.letGo(10)
        }
        #expect(budget.admitsLease)
        budget.ended(lease(1))
        #expect(!budget.admitsLease)
        #expect(budget.grants() == [grant(2, 10)])
        #expect(budget.admitsLease)
    }

    @Test("a slow body with less than half of it stops neither a longer one for ever nor short ones at all")
    func slow() {
        var budget = budget()
        budget.wanted(lease(1), holding: 10, total: 100, isWhole: false)
        #expect(budget.grants() == [grant(1, 90)])
        budget.wanted(lease(2), holding: 10, total: 1000, isWhole: true)
        for _ in 0..<100 {
            #expect(budget.grants() == [])
            #expect(budget.admitsLease)
            budget.handedOver(10)
            budget.letGo(10)
        }
        #expect(!budget.admitsLease)
        #expect(budget.grants() == [grant(2, 990)])
        #expect(budget.held == 1100)
        // Now it has to wait for the longer one.
        budget.wanted(lease(1), holding: 100, total: 200, isWhole: false)
        #expect(budget.grants() == [])
        #expect(budget.admitsLease)
        budget.ended(lease(2))
        budget.handedOver(1000)
        #expect(budget.grants() == [])
        budget.letGo(1000)
        #expect(budget.grants() == [grant(1, 100)])
    }

    @Test("a body that holds more lets the long ones wait, and short ones go on", arguments: [true, false])
    func slowAndLong(isWhole: Bool) {
        var budget = budget()
        budget.wanted(lease(1), holding: 10, total: 600, isWhole: isWhole)
        #expect(budget.grants() == [grant(1, 590)])
        budget.wanted(lease(2), holding: 10, total: 1000, isWhole: true)
        budget.wanted(lease(3), holding: 10, total: 20, isWhole: true)
        #expect(budget.grants() == [grant(3, 10)])
        budget.ended(lease(3))
        for _ in 0..<1000 {
            budget.handedOver(10)
            budget.letGo(10)
        }
        budget.wanted(lease(3), holding: 10, total: 20, isWhole: true)
        #expect(budget.grants() == [])
        #expect(budget.admitsLease)
        budget.ended(lease(1))
        #expect(!budget.admitsLease)
        #expect(budget.grants() == [grant(2, 990)])
    }

    @Test("the end of a lease that never asked changes nothing")
    func unknown() {
        var budget = budget()
        let waited = budget.ended(lease(7))
        #expect(!waited)
        #expect(budget.held == 0)
    }
}
