import TestSupport
import Testing
import TrawlHTTP

@testable import TrawlCache

@Suite("Records of stored responses")
struct StoredResponseTests {
    /// A response made by chance.
    private func sample(_ random: inout SeededGenerator) throws -> StoredResponse {
        var lines = [("Cache-Control", "max-age=\(random.next() % 1000), public")]
        if random.bool() { lines.append(("ETag", "\"\(random.next())\"")) }
        if random.bool() { lines.append(("Last-Modified", date(-Int64(random.next() % 100_000)))) }
        if random.bool() { lines.append(("Vary", "Accept, X, Cookie")) }
        for index in 0..<random.next() % 4 { lines.append(("X-\(index)", "é\(random.next())")) }
        var policy = CachePolicy()
        if random.bool() { policy.secondsToCache = Int64(bitPattern: random.integer()) }
        var asked = [("X", "1")]
        if random.bool() { asked.append(("Authorization", "\(random.next())")) }
        if random.bool() { asked.append(("Accept", "a;q=1, b")) }
        var response = try #require(
            stored(lines, for: request(asked, policy: policy), length: random.next() % 100_000))
        response.metadata = random.bytes(upTo: 40)
        if random.bool() {
            response.facts.body = try #require(
                BodyExtent.part(
                    first: random.next() % 1000, length: 7, total: random.bool() ? nil : 5000, reachesEnd: false))
            response.facts.flags.remove(.complete)
        }
        return response
    }

    @Test("what is written is read back the same, whatever follows it")
    func roundTrip() throws {
        var random = SeededGenerator(seed: 11)
        for _ in 0..<300 {
            let response = try sample(&random)
            let bytes = response.encoded()
            let length = bytes.count
            try (bytes + random.bytes(upTo: 10)).withUnsafeBytes { bytes in
                let view = try StoredView(bytes)
                #expect(view.headLength == length)
                #expect(view.hasKey(response.key))
                var read = try StoredResponse(view)
                #expect(read.encoded() == Array(bytes[..<length]))
                // Flags of the body are set when it is written.
                read.facts.flags = response.facts.flags
                #expect(read == response)
            }
        }
    }

    @Test("a record cut short anywhere is refused")
    func truncation() throws {
        var random = SeededGenerator(seed: 12)
        let bytes = try sample(&random).encoded()
        for length in 0..<bytes.count {
            bytes[..<length].withUnsafeBytes { bytes in
                _ = #expect(throws: RecordError.self) { try StoredView(bytes).headLength }
            }
        }
    }

    @Test("another version is refused")
    func version() throws {
        var random = SeededGenerator(seed: 13)
        var bytes = try sample(&random).encoded()
        bytes[0] = 2
        #expect(throws: RecordError.version) { try bytes.withUnsafeBytes { _ = try StoredView($0) } }
    }

    @Test("damaged bytes never trap, whatever is asked of them")
    func damage() throws {
        var random = SeededGenerator(seed: 14)
        for round in 0..<4000 {
            var bytes = try sample(&random).encoded()
            for _ in 0...random.next() % 3 {
                let place = Int(random.next() % UInt64(bytes.count))
                bytes[place] =
                    round % 2 == 0 ? bytes[place] ^ (1 << UInt8(random.next() % 8)) : UInt8(random.next() & 255)
            }
            exercise(bytes, WallTime(milliseconds: Int64(bitPattern: random.integer())))
        }
    }

    @Test("any bytes never trap")
    func garbage() {
        var random = SeededGenerator(seed: 15)
        for _ in 0..<4000 {
            var bytes: [UInt8] = [1, 11, 200, 0] + random.bytes(upTo: 300)
            // Numbers at the edges of their range in the fixed part.
            for place in stride(from: 8, to: min(bytes.count - 8, 120), by: 8) where random.next() % 4 == 0 {
                let edge: UInt64 = random.pick([0, .max, 1 << 63, (1 << 63) - 1, 1])
                withUnsafeBytes(of: edge.littleEndian) { bytes.replaceSubrange(place..<(place + 8), with: $0) }
            }
            if bytes.count > 144, random.bool() {
                for place in 120..<144 where place % 4 != 0 { bytes[place] = 0 }
            }
            exercise(bytes, WallTime(milliseconds: Int64(bitPattern: random.integer())))
        }
    }

    private func exercise(_ bytes: [UInt8], _ now: WallTime) {
        bytes.withUnsafeBytes { bytes in
            guard let view = try? StoredView(bytes) else { return }
            let requests = [
                request(), request([("X", "1"), ("Accept", "b, a")]), request([("If-None-Match", "\"1\"")]),
                request([("Range", "bytes=0-3")]), request([("Range", "bytes=-3"), ("If-Range", "\"1\"")]),
                request([("Cache-Control", "max-stale=1, min-fresh=1, max-age=1")]), request(method: .head),
                request(policy: CachePolicy([.doNotLoad])),
            ]
            for asked in requests {
                _ = rules.prefers(view, over: view, for: asked)
                _ = view.isSelected(by: asked, tag: testTag)
                let decision = rules.lookup(asked, stored: view, at: now)
                if case .serve(let reuse) = decision {
                    _ = reuse.bodyRange(of: view.facts.body)
                    _ = try? view.head(as: reuse)
                }
                guard let response = try? StoredResponse(view) else { continue }
                _ = response.encoded()
                _ = view.isReplaced(by: response)
                _ = rules.fallback(asked, response, after: .unreachable, at: now)
                _ = rules.combined(response, response)
                if case .send(let sending) = decision {
                    for status in [200, 206, 304, 503] as [UInt16] {
                        _ = rules.conclude(
                            asked, sending, stored: response,
                            head([("Content-Range", "bytes 5-9/10"), ("Age", "99999999999")], status: status),
                            requestTime: now, responseTime: now)
                    }
                }
            }
        }
    }
}
