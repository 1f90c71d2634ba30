import TestSupport
import Testing
import TrawlHTTP

@testable import TrawlSession

@Suite("One question at a time, ASI-AUTH-15")
struct AuthenticationBrokerTests {
    private typealias Broker = AuthenticationBroker<ProtectionSpace, Int>

    private let space = ProtectionSpace(side: .server, origin: secureOrigin, scheme: .basic, realm: "r".raw)
    private let other = ProtectionSpace(side: .server, origin: secureOrigin, scheme: .basic, realm: "s".raw)
    private let credentials = Credentials(user: "u", password: "p")

    /// A broker where 1 asks and the others wait.
    private func broker(waiting: ClosedRange<Int> = 2...5) -> Broker {
        var broker = Broker()
        #expect(broker.ask(space, by: 1) == .ask)
        var turns: Set<Bool> = []
        for asker in waiting { turns.insert(broker.ask(space, by: asker) == .wait) }
        #expect(turns == [true])
        return broker
    }

    @Test("of many fetches one asks; when its answer works all take it, in their order")
    func reuse() {
        var broker = broker()
        #expect(broker.waiting(for: space) == 4)
        #expect(broker.told(credentials, for: space, to: 1) == .prove(1, credentials))
        #expect(broker.ask(space, by: 6) == .wait)
        #expect(broker.proved(space, by: 1) == .resume([2, 3, 4, 5, 6], credentials))
        #expect(broker.isIdle)
    }

    @Test("a wrong answer is tried by the one that asked, and it asks again")
    func wrong() {
        var broker = broker()
        for _ in 0..<3 {
            #expect(broker.told(credentials, for: space, to: 1) == .prove(1, credentials))
            #expect(broker.ask(space, by: 1) == .ask)
        }
        #expect(broker.left(space, by: 1) == .ask(2))
        #expect(broker.waiting(for: space) == 3)
    }

    @Test("what was refused is handed to nobody, whatever becomes of the one that tried it")
    func refused() {
        for isLast in [true, false] {
            var broker = broker()
            _ = broker.told(credentials, for: space, to: 1)
            // Who does not have the turn refuses nothing.
            broker.refused(space, by: 2)
            broker.refused(other, by: 1)
            broker.refused(space, by: 1)
            // What works after that is something else.
            #expect(broker.proved(space, by: 1) == .none)
            #expect(broker.waiting(for: space) == 4)
            if isLast {
                #expect(broker.ended(1).map(\.action) == [.ask(2)])
            } else {
                #expect(broker.ask(space, by: 1) == .ask)
                #expect(broker.told(credentials, for: space, to: 1) == .prove(1, credentials))
                #expect(broker.proved(space, by: 1) == .resume([2, 3, 4, 5], credentials))
            }
        }
    }

    @Test("a fetch that goes on to another space leaves the first to those that wait for it")
    func goesOn() {
        var broker = broker()
        let (space, other) = (space, other)
        let stays = broker.left(by: 1) { $0 != space }
        let leaves = broker.left(by: 1) { $0 != other }
        #expect(stays.isEmpty && leaves.map(\.action) == [.ask(2)])
        #expect(!broker.knows(1) && broker.knows(2) && broker.knows(5) && !broker.knows(6))
        #expect(broker.ask(other, by: 1) == .ask)
        // One that only waited is gone from the line.
        let isGone = broker.left(by: 3) { $0 == space }
        #expect(isGone.isEmpty && broker.waiting(for: space) == 2)
    }

    @Test("spaces have nothing to do with each other")
    func apart() {
        var broker = broker()
        #expect(broker.ask(other, by: 9) == .ask)
        #expect(broker.ask(other, by: 1) == .wait)
        #expect(broker.told(credentials, for: other, to: 9) == .prove(9, credentials))
        #expect(broker.proved(other, by: 9) == .resume([1], credentials))
        #expect(broker.waiting(for: space) == 4)
    }

    @Test("cancelling one question fails all that wait, or makes the next ask")
    func cancel() {
        var broker = broker()
        #expect(broker.cancelled(space, by: 1, all: false) == .ask(2))
        #expect(broker.cancelled(space, by: 2, all: true) == .fail([3, 4, 5]))
        #expect(broker.isIdle)
        #expect(broker.ask(space, by: 1) == .ask)
        #expect(broker.cancelled(space, by: 1, all: true) == .none)
        #expect(broker.isIdle)
    }

    @Test("the end of a fetch leaves its place to the next, with what it was told")
    func ended() {
        var broker = broker()
        #expect(broker.ended(3).isEmpty)
        #expect(broker.ended(1).map(\.action) == [.ask(2)])
        #expect(broker.told(credentials, for: space, to: 2) == .prove(2, credentials))
        #expect(broker.ended(2).map(\.action) == [.prove(4, credentials)])
        #expect(broker.proved(space, by: 4) == .resume([5], credentials))
        #expect(broker.ended(7).isEmpty)
        #expect(broker.isIdle)
    }

    @Test("a fetch that ends leaves every space it stands in")
    func everywhere() {
        var broker = broker()
        #expect(broker.ask(other, by: 1) == .ask)
        #expect(broker.ask(other, by: 8) == .wait)
        #expect(Set(broker.ended(1).map { "\($0.action)" }) == ["ask(2)", "ask(8)"])
    }

    @Test("who does not have the turn changes nothing, in any phase")
    func late() {
        for isProving in [false, true] {
            var broker = broker()
            if isProving { _ = broker.told(credentials, for: space, to: 1) }
            for asker in [2, 99] {
                #expect(broker.told(Credentials(bearer: "x"), for: space, to: asker) == .none)
                #expect(broker.proved(space, by: asker) == .none)
                #expect(broker.cancelled(space, by: asker, all: true) == .none)
                #expect(broker.proved(other, by: asker) == .none)
            }
            // Nothing was said yet that could be proved.
            if !isProving { #expect(broker.proved(space, by: 1) == .none) }
            #expect(broker.ask(space, by: 2) == .wait)
            #expect(broker.waiting(for: space) == 4)
            #expect(broker.left(space, by: 1) == (isProving ? .prove(2, credentials) : .ask(2)))
        }
    }

    // Work that grows with the line would take minutes.
    @Test("leaving from the middle of a long line is as cheap as from its front", .timeLimit(.minutes(10)))
    func long() {
        var broker = broker(waiting: 2...200_000)
        let time = ProcessorTime.spent {
            for asker in stride(from: 200_000, to: 2, by: -1) { _ = broker.left(space, by: asker) }
        }
        #expect(broker.waiting(for: space) == 1 && time < .seconds(60))
        #expect(broker.left(space, by: 1) == .ask(2))
    }

    /// In any order of events: one holder for each space; every fetch that waits is told something in the end.
    @Test("no fetch is forgotten or told twice, whatever happens in whatever order", arguments: 0..<30)
    func model(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var broker = Broker()
        let spaces = [space, other]
        // For each space: who has the turn, who waits in which order.
        var holders: [ProtectionSpace: Int] = [:]
        var proving: [ProtectionSpace: Credentials] = [:]
        var lines: [ProtectionSpace: [Int]] = [:]

        func check(_ action: Broker.Action, _ expected: Broker.Action, _ what: String) {
            #expect(action == expected, "seed \(seed): \(what)")
        }
        func promote(_ space: ProtectionSpace) -> Broker.Action {
            guard var line = lines[space], !line.isEmpty else {
                holders[space] = nil
                proving[space] = nil
                return .none
            }
            let next = line.removeFirst()
            lines[space] = line
            holders[space] = next
            return proving[space].map { .prove(next, $0) } ?? .ask(next)
        }
        for step in 0..<2_000 {
            let space = generator.pick(spaces)
            let asker = Int.random(in: 0..<12, using: &generator)
            let isHolder = holders[space] == asker
            switch generator.next() % 7 {
            case 6:
                broker.refused(space, by: asker)
                if isHolder { proving[space] = nil }
            case 0, 1:
                let turn = broker.ask(space, by: asker)
                if holders[space] == nil {
                    holders[space] = asker
                    #expect(turn == .ask, "seed \(seed) step \(step)")
                } else if isHolder {
                    proving[space] = nil
                    #expect(turn == .ask, "seed \(seed) step \(step)")
                } else {
                    if !lines[space, default: []].contains(asker) { lines[space, default: []].append(asker) }
                    #expect(turn == .wait, "seed \(seed) step \(step)")
                }
            case 2:
                let credentials = Credentials(user: "\(step)", password: "p")
                if isHolder { proving[space] = credentials }
                check(
                    broker.told(credentials, for: space, to: asker), isHolder ? .prove(asker, credentials) : .none,
                    "told \(step)")
            case 3:
                let action = broker.proved(space, by: asker)
                if isHolder, let credentials = proving[space] {
                    let line = lines[space] ?? []
                    check(action, line.isEmpty ? .none : .resume(line, credentials), "proved \(step)")
                    (holders[space], proving[space], lines[space]) = (nil, nil, nil)
                } else {
                    check(action, .none, "proved \(step)")
                }
            case 4:
                let action = broker.left(space, by: asker)
                if isHolder {
                    check(action, promote(space), "left \(step)")
                } else {
                    lines[space]?.removeAll { $0 == asker }
                    check(action, .none, "left \(step)")
                }
            default:
                let all = generator.bool()
                let action = broker.cancelled(space, by: asker, all: all)
                if !isHolder {
                    check(action, .none, "cancelled \(step)")
                } else if all {
                    let line = lines[space] ?? []
                    check(action, line.isEmpty ? .none : .fail(line), "cancelled \(step)")
                    (holders[space], proving[space], lines[space]) = (nil, nil, nil)
                } else {
                    check(action, promote(space), "cancelled \(step)")
                }
            }
            #expect(broker.waiting(for: space) == lines[space]?.count ?? 0, "seed \(seed) step \(step)")
        }
        for asker in 0..<12 { _ = broker.ended(asker) }
        #expect(broker.isIdle, "seed \(seed)")
    }
}
