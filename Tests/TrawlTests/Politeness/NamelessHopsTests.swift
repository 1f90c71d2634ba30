import Testing

@testable import Trawl

@Suite("Hops whose names are looked up")
struct NamelessHopsTests {
    @Test("a name is asked for by the first that waits for it, and once more when it was answered")
    func questions() {
        var hops = NamelessHops()
        let names: [(String, UInt64)] = [("a.test", 1), ("b.test", 2), ("a.test", 3)]
        var asks: [Bool] = []
        for (name, number) in names {
            asks.append(hops.wait(FetchKey(rawValue: number), front: number == 3, for: name))
        }
        #expect(asks == [true, true, false])
        let waited = hops.take("a.test")
        #expect(waited.map { $0.fetch.rawValue } == [1, 3] && waited.map { $0.front } == [false, true])
        let more = [hops.take("a.test").count, hops.take("c.test").count]
        #expect(more == [0, 0])
        let isFirst = hops.wait(FetchKey(rawValue: 4), front: false, for: "a.test")
        #expect(isFirst)
    }

    @Test("those that fail come out once")
    func failing() {
        var hops = NamelessHops()
        hops.fail(FetchKey(rawValue: 7))
        let failing = [hops.nextFailing()?.rawValue, hops.nextFailing()?.rawValue]
        #expect(failing == [7, nil])
    }
}
