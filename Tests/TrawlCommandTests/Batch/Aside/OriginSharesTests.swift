import TestSupport
import Testing
import TrawlHTTP

@testable import TrawlCommand

@Suite("What origins have in flight and aside")
struct OriginSharesTests {
    private func origin(_ number: Int) -> Origin { Origin(scheme: "http", host: "h\(number)", port: 80) }

    private func start(_ origin: Origin, _ shares: inout OriginShares) {
        let number = shares.number(of: origin)
        shares.started(number)
    }

    private func end(_ origin: Origin, _ shares: inout OriginShares) {
        let number = shares.number(of: origin)
        shares.ended(number)
    }

    @Test("an origin may have its share and no more, and with a line aside none at all")
    func share() {
        var shares = OriginShares(most: 2, inAll: 100)
        let one = shares.number(of: origin(1))
        let two = shares.number(of: origin(2))
        for _ in 0..<2 {
            #expect(shares.mayStart(one))
            shares.started(one)
        }
        #expect(!shares.mayStart(one) && shares.mayStart(two))
        shares.setAside(one, at: 7)
        shares.setAside(one, at: 9)
        #expect(shares.asideCount == 2 && shares.last(of: one) == 9 && shares.nextDue() == nil)
        shares.ended(one)
        // Its place is that of the first line aside.
        #expect(!shares.mayStart(one))
        #expect(shares.nextDue().map { $0.number == one && $0.place == 7 } == true)
        shares.cameBack(one, next: 9)
        #expect(shares.nextDue() == nil && shares.asideCount == 1)
        shares.ended(one)
        shares.ended(one)
        #expect(shares.nextDue()?.place == 9)
        shares.cameBack(one, next: nil)
        #expect(shares.mayStart(one) && !shares.hasRow(one) && shares.nextDue() == nil)
    }

    @Test("who waits for a time takes no place: lines come back without an end")
    func widened() {
        var shares = OriginShares(most: 2, inAll: 100)
        let one = shares.number(of: origin(1))
        for _ in 0..<2 { shares.started(one) }
        for place in 0..<100 as Range<AsideFile.Place> { shares.setAside(one, at: place) }
        func takeBack(_ shares: inout OriginShares) -> Int {
            var count = 0
            while let due = shares.nextDue() {
                shares.cameBack(due.number, next: due.place + 1)
                count += 1
            }
            return count
        }
        #expect(takeBack(&shares) == 0)
        shares.widen(by: 3)
        #expect(takeBack(&shares) == 0)
        shares.widen(by: 20)
        #expect(takeBack(&shares) == 20)
        shares.widen(by: 1)
        for _ in 0..<19 { shares.ended(one) }
        #expect(takeBack(&shares) == 0)
        shares.ended(one)
        #expect(takeBack(&shares) == 1)
    }

    @Test("many origins share what there is, one each at least, and those without requests and lines are forgotten")
    func many() {
        var shares = OriginShares(most: 64, inAll: 1000)
        let numbers = (0..<500).map { shares.number(of: origin($0)) }
        for number in numbers { for _ in 0..<2 { shares.started(number) } }
        #expect(shares.count == 500 && numbers.allSatisfy { !shares.mayStart($0) })
        for number in 500..<5000 { start(origin(number), &shares) }
        for number in 500..<5000 { end(origin(number), &shares) }
        for number in numbers { for _ in 0..<2 { shares.ended(number) } }
        #expect(shares.count == 0)
        let one = shares.number(of: origin(1))
        #expect(shares.mayStart(one))
    }

    @Test(
        "lines come back in the order in which they were set aside, within shares, and all of them",
        arguments: 1...20 as ClosedRange<UInt64>)
    func model(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var shares = OriginShares(most: Int.random(in: 1...5, using: &random), inAll: 12)
        var inFlight: [OriginShares.Number] = []
        var rows: [OriginShares.Number: [AsideFile.Place]] = [:]
        var place: AsideFile.Place = 0
        for step in 0..<4000 {
            if step < 3000, Bool.random(using: &random) {
                let number = shares.number(of: origin(Int.random(in: 0..<8, using: &random)))
                #expect(shares.hasRow(number) == (rows[number]?.isEmpty == false))
                if shares.mayStart(number) {
                    #expect(rows[number]?.isEmpty != false)
                    shares.started(number)
                    inFlight.append(number)
                } else {
                    #expect(shares.last(of: number) == rows[number]?.last)
                    shares.setAside(number, at: place)
                    rows[number, default: []].append(place)
                    place += 1
                }
            } else if let index = inFlight.indices.randomElement(using: &random) {
                shares.ended(inFlight.remove(at: index))
            }
            if Int.random(in: 0..<3, using: &random) > 0 {
                while let due = shares.nextDue() {
                    #expect(rows[due.number]?.first == due.place)
                    rows[due.number]?.removeFirst()
                    shares.cameBack(due.number, next: rows[due.number]?.first)
                    inFlight.append(due.number)
                }
                // Whoever has lines has a request whose end brings them back.
                for (number, row) in rows where !row.isEmpty { #expect(inFlight.contains(number)) }
            }
            #expect(shares.asideCount == rows.values.reduce(0) { $0 + $1.count })
            for number in Set(inFlight) { #expect(inFlight.count { $0 == number } <= 5) }
        }
        while !inFlight.isEmpty || shares.hasDue {
            if let number = inFlight.popLast() { shares.ended(number) }
            while let due = shares.nextDue() {
                #expect(rows[due.number]?.removeFirst() == due.place)
                shares.cameBack(due.number, next: rows[due.number]?.first)
                inFlight.append(due.number)
            }
        }
        #expect(shares.asideCount == 0 && shares.count == 0)
    }
}
