import Testing
import TrawlFrontier
import TrawlHTTP

@Suite("Names without an address")
struct UnknownNamesTests {
    private static let start = MonotonicInstant(nanoseconds: 1_000_000_000_000)
    private static func at(_ seconds: Double) -> MonotonicInstant { start.advanced(by: .seconds(seconds)) }
    private static func name(_ host: String, _ family: UInt8 = 0) -> UnknownNames.Name {
        UnknownNames.Name(host: host, family: family)
    }

    @Test("a name is remembered for its time, for its family, and no longer")
    func lifetime() {
        var names = UnknownNames(lifetime: .seconds(5))
        #expect(names.isEmpty)
        names.note(Self.name("dead.test"), at: Self.at(0))
        func knows(_ name: UnknownNames.Name, _ seconds: Double) -> Bool {
            names.contains(name, at: Self.at(seconds), triesAgain: false)
        }
        #expect(knows(Self.name("dead.test"), 0) && knows(Self.name("dead.test"), 4.9))
        #expect(!knows(Self.name("dead.test", 6), 1) && !knows(Self.name("other.test"), 1))
        #expect(!knows(Self.name("dead.test"), 5))
        #expect(names.isEmpty)
    }

    @Test("what is noted again lives on from then; what is found, or of another network, is forgotten")
    func changes() {
        var names = UnknownNames(lifetime: .seconds(5))
        names.note(Self.name("a.test"), at: Self.at(0))
        names.note(Self.name("a.test"), at: Self.at(4))
        names.note(Self.name("b.test"), at: Self.at(6))
        let isKnown = names.contains(Self.name("a.test"), at: Self.at(8.5), triesAgain: false)
        #expect(isKnown)
        names.remove(Self.name("a.test"))
        let isKnownLater = names.contains(Self.name("a.test"), at: Self.at(8.5), triesAgain: false)
        #expect(!isKnownLater && names.count == 1)
        names.removeAll()
        #expect(names.isEmpty)
    }

    @Test("of those who try again one a second may ask")
    func attempts() {
        var names = UnknownNames(lifetime: .seconds(5))
        let name = Self.name("dead.test")
        names.note(name, at: Self.at(0))
        var asked: [Double] = []
        for tenth in 0..<100 {
            for _ in 0..<10 where !names.contains(name, at: Self.at(Double(tenth) / 10), triesAgain: true) {
                asked.append(Double(tenth) / 10)
            }
        }
        #expect(asked == [1, 2, 3, 4, 5, 6, 7, 8, 9])
    }

    @Test("memory is bounded, the oldest goes first, and none is kept without a lifetime")
    func bounds() {
        var names = UnknownNames(lifetime: .seconds(5), capacity: 100)
        for number in 0..<10_000 { names.note(Self.name("\(number).test"), at: Self.at(Double(number) / 10_000)) }
        #expect(names.count == 100)
        let hasOldest = names.contains(Self.name("9899.test"), at: Self.at(1), triesAgain: false)
        let hasNext = names.contains(Self.name("9900.test"), at: Self.at(1), triesAgain: false)
        #expect(!hasOldest && hasNext)
        var none = UnknownNames(lifetime: .zero)
        none.note(Self.name("a.test"), at: Self.at(0))
        #expect(none.isEmpty)
    }
}
