import TestSupport
import Testing
import TrawlHTTP

@testable import TrawlCommand

@Suite("Lines that others overtake")
struct LinesAsideTests {
    private func at(_ milliseconds: UInt64) -> MonotonicInstant {
        MonotonicInstant(nanoseconds: 1_000_000_000 + milliseconds * 1_000_000)
    }

    private func origin(_ host: Int) -> Origin { Origin(scheme: "http", host: "h\(host)", port: 80) }

    private func fetch(_ host: Int, _ line: Int) -> FetchInFlight {
        FetchInFlight(ListedRequest(url: "http://h\(host)/\(line)", out: nil), line: line, at: at(0))
    }

    @Test(
        "each line starts once, those of a host in their order, with room on the disk and without",
        arguments: [1 << 20, 8192, 4096, 0], [1, 2, 3] as [UInt64])
    func model(mostBytes: Int, seed: UInt64) throws {
        let scratch = try ScratchDirectory()
        var random = SeededGenerator(seed: seed)
        let aside = try LinesAside(in: scratch.path, share: 3, at: at(0), mostBytes: mostBytes, pieceSize: 4096)
        let hosts = (0..<1200).map { _ in Int.random(in: 0..<6, using: &random) }
        var inFlight: [FetchInFlight] = []
        var order: [Int: [Int]] = [:]
        var next = 0
        func start(_ fetch: FetchInFlight, _ host: Int) {
            inFlight.append(fetch)
            order[host, default: []].append(fetch.line)
        }
        func back() throws {
            while aside.hasDue {
                guard let (line, number) = try aside.next() else { break }
                let fetch = fetch(hosts[line.number], line.number)
                #expect(line.bytes == Array(fetch.request.url.utf8))
                fetch.originNumber = number
                start(fetch, hosts[line.number])
            }
            if let held = aside.takeHeld() { start(held, hosts[held.line]) }
        }
        for step in 0..<100_000 as Range<UInt64> where next < hosts.count || !inFlight.isEmpty || !aside.isEmpty {
            for _ in 0..<Int.random(in: 0..<20, using: &random) where next < hosts.count && aside.mayRead(at: at(step))
            {
                let fetch = fetch(hosts[next], next)
                let bytes = Array(fetch.request.url.utf8)
                next += 1
                let starts = bytes.withUnsafeBytes {
                    aside.starts(fetch, of: origin(hosts[fetch.line]))
                        || aside.setAside(
                            fetch, of: origin(hosts[fetch.line]), $0, mayStart: inFlight.count < 10)
                }
                if starts { start(fetch, hosts[fetch.line]) }
            }
            // A host ends nothing for long.
            let done = inFlight.indices.filter { hosts[inFlight[$0].line] != 0 || step % 50 == 0 }
            if let index = done.randomElement(using: &random) { aside.ended(inFlight.remove(at: index)) }
            try back()
            #expect(aside.count == next - order.values.reduce(0) { $0 + $1.count })
        }
        #expect(next == hosts.count && aside.isEmpty && inFlight.isEmpty)
        for (host, lines) in order { #expect(lines == hosts.indices.filter { hosts[$0] == host }) }
    }

    @Test("it goes when nothing was aside for long")
    func calm() throws {
        let scratch = try ScratchDirectory()
        let aside = try LinesAside(in: scratch.path, share: 1, at: at(0))
        let first = fetch(1, 1)
        #expect(aside.starts(first, of: origin(1)))
        let second = fetch(1, 2)
        #expect(!aside.starts(second, of: origin(1)))
        let starts = Array("http://h1/2".utf8).withUnsafeBytes {
            aside.setAside(second, of: origin(1), $0, mayStart: true)
        }
        #expect(!starts && aside.count == 1 && !aside.hasDue)
        for _ in 0..<1000 { #expect(!aside.turned(isCalm: true)) }
        aside.ended(first)
        #expect(try aside.next()?.line.number == 2)
        #expect((0..<1000).contains { _ in aside.turned(isCalm: true) })
        #expect(!aside.turned(isCalm: false))
    }
}
