import TestSupport
import Testing
import Trawl
import TrawlHTTP
import TrawlProtocol

@testable import TrawlCommand

@Suite("Requests that wait for descriptors")
struct ShortageQueueTests {
    private func at(_ seconds: UInt64) -> MonotonicInstant { MonotonicInstant(nanoseconds: seconds * 1_000_000_000) }

    @Test("they come when they are due, the earliest first and equal ones in their order")
    func order() {
        var queue = ShortageQueue()
        #expect(queue.isEmpty && queue.next == nil && queue.takeDue(at: at(9)) == nil)
        for (tag, time) in [(1, 5), (2, 3), (3, 5), (4, 1), (5, 3)] as [(UInt64, UInt64)] {
            queue.insert(tag, at: at(time))
        }
        #expect(queue.next == at(1))
        #expect(queue.takeDue(at: at(0)) == nil)
        var taken: [UInt64] = []
        while let tag = queue.takeDue(at: at(4)) { taken.append(tag) }
        #expect(taken == [4, 2, 5])
        #expect(queue.next == at(5))
        #expect(queue.removeAll().sorted() == [1, 3])
        #expect(queue.isEmpty)
    }
}

@Suite("The table of fetches in flight")
struct FetchesInFlightTests {
    @Test("places are used again, and each tag finds its own request")
    func table() {
        var table = FetchesInFlight()
        var tags: [UInt64: Int] = [:]
        var most = 0
        for number in 0..<5000 {
            let fetch = FetchInFlight(
                ListedRequest(url: "http://h/\(number)", out: nil), line: number, at: MonotonicInstant(nanoseconds: 0))
            let tag = table.insert(fetch)
            #expect(tags.updateValue(number, forKey: tag) == nil)
            most = max(most, Int(tag))
            if number % 3 != 0, let (old, line) = tags.first {
                #expect(table[old].line == line)
                #expect(table.remove(old).line == line)
                tags[old] = nil
            }
            if tags.count > 40 {
                for (old, line) in tags { #expect(table.remove(old).line == line) }
                tags = [:]
            }
            #expect(table.count == tags.count && table.isEmpty == tags.isEmpty)
        }
        #expect(most <= 41)
    }

    @Test("they come up in the order of their times, whenever they were put in", arguments: [1, 2, 3] as [UInt64])
    func random(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var queue = ShortageQueue()
        var waiting: [UInt64] = []
        var last: UInt64 = 0
        for tag in 0..<2000 as Range<UInt64> {
            let time = last + UInt64.random(in: 0..<50, using: &generator)
            queue.insert(time << 32 | tag, at: MonotonicInstant(nanoseconds: time))
            waiting.append(time)
            if Bool.random(using: &generator) { last += 3 }
            while let taken = queue.takeDue(at: MonotonicInstant(nanoseconds: last)) {
                #expect(taken >> 32 == waiting.min())
                waiting.remove(at: waiting.firstIndex(of: taken >> 32) ?? 0)
            }
            #expect(queue.count == waiting.count)
            #expect(queue.next?.nanoseconds == waiting.min())
        }
    }

    @Test("those that wait take no place of others, within a bound")
    func room() {
        var table = FetchesInFlight()
        let request = ListedRequest(url: "http://h/", out: nil)
        func add(_ count: Int) {
            for _ in 0..<count {
                _ = table.insert(FetchInFlight(request, line: 1, at: MonotonicInstant(nanoseconds: 0)))
            }
        }
        add(100)
        #expect(!table.hasRoom(for: 100))
        #expect(table.hasRoom(for: 100, waiting: 1))
        add(16_384)
        #expect(!table.hasRoom(for: 100, waiting: 16_484))
        #expect(!table.hasRoom(for: 16_300, waiting: 300, mostWaiting: 100))
        #expect(table.hasRoom(for: 16_300, waiting: 300, mostWaiting: 200))
    }

    private func fetch(
        _ url: String = "http://h/", body: [UInt8]? = nil, credential: Credential? = nil, keepsTerms: Bool = true
    ) -> FetchInFlight {
        let own = ListedRequest.OwnTerms(
            method: nil, headers: FieldLines(), body: body, follows: nil, maxRedirects: nil, timeout: nil,
            credential: credential)
        return FetchInFlight(
            ListedRequest(url: url, id: nil, out: nil, own: own, key: RequestKey(url: url, out: nil)), line: 1,
            keepsTerms: keepsTerms, at: MonotonicInstant(nanoseconds: 0))
    }

    @Test("only bodies that take a descriptor are counted as such, and places they leave are free")
    func bodies() {
        var table = FetchesInFlight()
        for _ in 0..<1000 {
            _ = table.insert(fetch(body: []))
            _ = table.insert(fetch(body: [1]))
        }
        #expect(table.hasRoom(for: 5000))
        let short = [UInt8](repeating: 1, count: WireProtocol.maximumInlineBody)
        for _ in 0..<300 { _ = table.insert(fetch(body: short)) }
        #expect(table.hasRoom(for: 5000))
        var tags: [UInt64] = []
        for _ in 0..<256 {
            #expect(table.hasRoom(for: 5000))
            tags.append(table.insert(fetch(body: short + [1])))
        }
        #expect(table.isFullOfLines && !table.hasRoom(for: 5000))
        table.remove(tags[0])
        #expect(table.hasRoom(for: 5000))
    }

    @Test("what lines say takes 64 MiB at most, and the one that goes beyond it: URLs, passwords and bodies")
    func lines() {
        let (count, text) = (1 << 20, String(repeating: "x", count: 1 << 20))
        let body = [UInt8](repeating: 1, count: count)
        // Made once: a key is worked out of each byte of a URL.
        for long in [
            fetch(text), fetch(credential: Credential(user: "u", password: text)), fetch(body: body),
            fetch(body: body, keepsTerms: false),
        ] {
            var table = FetchesInFlight()
            var last: UInt64 = 0
            for _ in 0..<64 {
                #expect(table.hasRoom(for: 100))
                last = table.insert(long)
            }
            #expect(!table.hasRoom(for: 100))
            table.remove(last)
            #expect(table.hasRoom(for: 100))
        }
    }

    @Test("of a request whose line is needed no more, what it is known by is kept")
    func withoutTerms() {
        let known = fetch("http://h/x", body: [1], keepsTerms: false).request
        #expect(known.own == nil && known.url == "http://h/x" && known.key == RequestKey(url: "http://h/x", out: nil))
        #expect(fetch(body: [1]).request.own?.body == [1])
    }
}
