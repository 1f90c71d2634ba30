import Glibc
import TestSupport
import Testing
import TrawlHTTP

@testable import TrawlProtocol

@Suite("Frames that another process should not have sent")
struct HostileFrameTests {
    @Test("a payload cut at any byte is refused", arguments: 0..<CoordinatorMessage.kinds + WorkerMessage.kinds)
    func truncated(kind: Int) throws {
        for seed in 0..<20 as Range<UInt64> {
            let bytes = randomFrame(kind, seed)
            for length in 0..<bytes.count - WireProtocol.headerLength {
                let cut = frame(
                    kind: bytes[4], descriptors: bytes[5], Array(bytes[WireProtocol.headerLength...].prefix(length)))
                #expect(throws: FrameError.self, "seed \(seed), length \(length)") { try decode(cut, kind) }
            }
        }
    }

    @Test("a payload that goes on is refused", arguments: 0..<CoordinatorMessage.kinds + WorkerMessage.kinds)
    func trailing(kind: Int) throws {
        for seed in 0..<20 as Range<UInt64> {
            let bytes = randomFrame(kind, seed)
            let longer = frame(kind: bytes[4], descriptors: bytes[5], bytes[WireProtocol.headerLength...] + [0])
            #expect(throws: FrameError.trailingBytes, "seed \(seed)") { try decode(longer, kind) }
        }
    }

    @Test(
        "more or fewer descriptors than the content needs are refused",
        arguments: 0..<CoordinatorMessage.kinds + WorkerMessage.kinds)
    func descriptors(kind: Int) throws {
        for seed in 0..<20 as Range<UInt64> {
            let bytes = randomFrame(kind, seed)
            for count in 0...UInt8(WireProtocol.maximumDescriptors) where count != bytes[5] {
                let other = frame(kind: bytes[4], descriptors: count, Array(bytes[WireProtocol.headerLength...]))
                #expect(throws: FrameError.descriptorCount, "seed \(seed)") { try decode(other, kind) }
            }
        }
    }

    @Test("kinds that do not exist, and those of the other direction, are refused", arguments: [UInt8.min...UInt8.max])
    func kinds(range: ClosedRange<UInt8>) {
        for kind in range {
            if !(1...9).contains(kind) {
                #expect(throws: FrameError.unknownKind(kind)) { try coordinatorMessages(frame(kind: kind, [])) }
            }
            if !(16...25).contains(kind) {
                #expect(throws: FrameError.unknownKind(kind)) { try workerMessages(frame(kind: kind, [])) }
            }
        }
    }

    @Test("a greeting of another version says its version and nothing else")
    func versions() throws {
        let hello = frame(kind: 1, Array("TRWL".utf8) + little(WireProtocol.version + 1) + [1, 2, 3])
        guard case .hello(let other) = try coordinatorMessages(hello).first else {
            Issue.record("no greeting")
            return
        }
        #expect(other.version == WireProtocol.version + 1)
        #expect(other.roots.isEmpty)
        let ready = frame(kind: 16, Array("TRWL".utf8) + little(UInt16(0)))
        #expect(try workerMessages(ready) == [.ready(Ready(version: 0, build: "", segmentLayout: 0, processID: 0))])
        // Nobody would close them.
        let laden = frame(kind: 16, descriptors: 1, Array("TRWL".utf8) + little(UInt16(0)))
        #expect(throws: FrameError.descriptorCount) { try workerMessages(laden) }
    }

    @Test("a greeting without the magic word is refused")
    func magic() {
        let payload = Array("TRWX".utf8) + little(WireProtocol.version)
        #expect(throws: FrameError.invalid(.magic)) { try coordinatorMessages(frame(kind: 1, payload)) }
        #expect(throws: FrameError.invalid(.magic)) { try workerMessages(frame(kind: 16, payload)) }
    }

    @Test("an interim head is not final, and a final one not interim")
    func heads() {
        let head = { (status: UInt16, flags: [UInt8]) in
            little(UInt64(1)) + flags + little(status) + [11] + little(UInt32(0)) + little(UInt32(0))
        }
        for status in [0, 99, 200, 101, 1000, .max] as [UInt16] {
            #expect(throws: FrameError.invalid(.status)) { try workerMessages(frame(kind: 17, head(status, []))) }
        }
        for status in [0, 99, 100, 103, 1000, .max] as [UInt16] {
            #expect(throws: FrameError.invalid(.status)) { try workerMessages(frame(kind: 18, head(status, [0]))) }
        }
    }

    @Test("a piece of a body is neither empty nor longer than an inline body", arguments: [0, (64 << 10) + 1])
    func data(length: Int) {
        let payload = little(UInt64(1)) + little(UInt32(length)) + [UInt8](repeating: 1, count: length)
        #expect(throws: FrameError.invalid(.length)) { try workerMessages(frame(kind: 19, payload)) }
    }

    @Test("an inline body above the limit is refused in both directions")
    func inlineBodies() {
        let body = [UInt8](repeating: 1, count: WireProtocol.maximumInlineBody + 1)
        var lease = Lease(id: 1, profile: 1, progressIndex: 0, method: .post, url: "", fields: FieldLines())
        lease.body = .inline(body)
        #expect(throws: FrameError.invalid(.body)) { try coordinatorMessages(frame(CoordinatorMessage.lease(lease))) }
        let end = LeaseEnd(lease: 1, outcome: .complete(.inline(body)))
        #expect(throws: FrameError.invalid(.body)) { try workerMessages(frame(WorkerMessage.ended(end))) }
    }

    @Test("a list that claims more texts than the payload could hold is refused before memory is taken for it")
    func counts() {
        let start =
            Array("TRWL".utf8) + little(WireProtocol.version) + little(UInt32(0)) + [UInt8](repeating: 0, count: 16)
        for count in [1, 2, 1 << 30, .max] as [UInt32] {
            #expect(throws: FrameError.invalid(.count)) {
                try coordinatorMessages(frame(kind: 1, start + little(count) + [0, 0, 0]))
            }
        }
    }

    @Test("a worker names no more codings than a profile can allow")
    func codings() throws {
        var end = LeaseEnd(lease: 1, outcome: .complete(.discarded(length: 0)))
        end.decoded = [String](repeating: "", count: 255)
        #expect(try workerMessages(frame(WorkerMessage.ended(end))) == [.ended(end)])
        end.decoded.append("")
        #expect(throws: FrameError.invalid(.count)) { try workerMessages(frame(WorkerMessage.ended(end))) }
    }

    @Test("what a server set is told beside what is stored alone, and is not nothing")
    func cookies() throws {
        var end = LeaseEnd(lease: 1, outcome: .complete(.discarded(length: 0)))
        end.cache.source = .revalidated
        try end.cache.serverFields.append("Set-Cookie", "a=1")
        #expect(try workerMessages(frame(WorkerMessage.ended(end))) == [.ended(end)])
        end.cache.source = .network
        #expect(throws: FrameError.invalid(.cache)) { try workerMessages(frame(WorkerMessage.ended(end))) }
        var payload = little(UInt64(1)) + [0] + little(UInt64(0)) + [0]
        // Neither trailers nor codings, and no lines where there should be some.
        payload += little(UInt32(0)) + little(UInt32(0)) + [0x82] + little(UInt32(0))
        #expect(throws: FrameError.invalid(.cache)) { try workerMessages(frame(kind: 20, payload)) }
    }

    @Test("what came of asking a server is told beside what is stored alone, and is one of both")
    func exchanges() throws {
        // Neither trailers nor codings.
        let start: [UInt8] =
            little(UInt64(1)) + [0] + little(UInt64(0)) + [0] + little(UInt32(0)) + little(UInt32(0))
        var end = LeaseEnd(lease: 1, outcome: .complete(.discarded(length: 0)))
        for (exchange, bytes) in [
            (.answered(status: 503), [4 | 3] + little(UInt16(503))),
            (
                .failed(.cannotConnect, systemError: 5, requestSent: false, hasHead: true),
                [8 | 3, 2] + little(Int32(5)) + [0, 1]
            ),
        ] as [(CacheReport.Exchange, [UInt8])] {
            (end.cache.source, end.cache.exchange) = (.stale, exchange)
            let whole = frame(WorkerMessage.ended(end))
            #expect(Array(whole.dropFirst(WireProtocol.headerLength + start.count).prefix(bytes.count)) == bytes)
            #expect(try workerMessages(whole) == [.ended(end)])
            end.cache.source = .network
            #expect(throws: FrameError.invalid(.cache)) { try workerMessages(frame(WorkerMessage.ended(end))) }
        }
        let wrong: [(bytes: [UInt8], part: FrameError)] = [
            ([4 | 8 | 3, 0, 0], .invalid(.cache)), ([4 | 3] + little(UInt16(199)), .invalid(.status)),
            ([8 | 3, 0], .invalid(.failure)),
        ]
        for (bytes, part) in wrong {
            #expect(throws: part) { try workerMessages(frame(kind: 20, start + bytes)) }
        }
    }

    @Test("a failure shows a chain that is no longer than chains are")
    func certificates() throws {
        let longest = [UInt8](repeating: 1, count: WireProtocol.maximumCertificate)
        var failure = HopFailure(.tlsUntrusted)
        failure.certificates = Array(repeating: longest, count: WireProtocol.maximumCertificates)
        let end = LeaseEnd(lease: 1, outcome: .failed(failure))
        #expect(try workerMessages(frame(WorkerMessage.ended(end))) == [.ended(end)])
        for chain in [failure.certificates + [[1]], [longest + [1]]] {
            var worse = failure
            worse.certificates = chain
            let end = LeaseEnd(lease: 1, outcome: .failed(worse))
            #expect(throws: FrameError.invalid(.failure)) { try workerMessages(frame(WorkerMessage.ended(end))) }
        }
    }

    @Test("a head that asks for what is not known is refused", arguments: [8, 0x80, 0xFF] as [UInt8])
    func questions(bits: UInt8) {
        let head = ResponseHead(status: 200, version: .http1_1, reason: "", fields: FieldLines())
        var bytes = frame(WorkerMessage.head(lease: 1, head, asks: []))
        bytes[WireProtocol.headerLength + 8] = bits
        #expect(throws: FrameError.reservedBits) { try workerMessages(bytes) }
    }

    @Test("reserved bits of a lease's flags are refused", arguments: [1, 0x80, 0xC0] as [UInt8])
    func flags(bit: UInt8) {
        let lease = Lease(id: 1, profile: 1, progressIndex: 0, method: .get, url: "", fields: FieldLines())
        var bytes = frame(CoordinatorMessage.lease(lease))
        bytes[WireProtocol.headerLength + 17] |= bit
        #expect(throws: FrameError.reservedBits) { try coordinatorMessages(bytes) }
    }

    @Test("texts that are not UTF-8, truths that are neither 0 nor 1, and header limits above the largest are refused")
    func values() {
        let ready = Array("TRWL".utf8) + little(WireProtocol.version) + little(UInt32(2))
        let rest = [UInt8](repeating: 0, count: 8)
        #expect(throws: FrameError.invalid(.text)) { try workerMessages(frame(kind: 16, ready + [0xC3, 0x28] + rest)) }
        #expect(throws: FrameError.invalid(.text)) { try workerMessages(frame(kind: 16, ready + [0x80, 0x80] + rest)) }
        let end = little(UInt64(1)) + [0] + little(UInt64(0)) + [2]
        #expect(throws: FrameError.invalid(.boolean)) { try workerMessages(frame(kind: 20, end)) }
        var profile = TransferProfile()
        profile.headBytes = UInt32(WireProtocol.maximumHead) + 1
        #expect(throws: FrameError.invalid(.length)) {
            try coordinatorMessages(frame(CoordinatorMessage.profile(number: 1, profile)))
        }
    }

    @Test(
        "the path of a file that a worker names leads nowhere but down",
        arguments: [
            "/", "/a", "a/", "a//b", ".", "..", "./a", "a/.", "a/..", "../a", "a/../b", "a\0b",
            String(repeating: "a", count: 4096),
        ])
    func paths(path: String) {
        let end = LeaseEnd(lease: 1, outcome: .complete(.file(length: 1, name: path)))
        #expect(throws: FrameError.invalid(.path)) { try workerMessages(frame(WorkerMessage.ended(end))) }
        let unnamed = LeaseEnd(lease: 1, outcome: .complete(.unnamed(length: 1, name: path)))
        #expect(throws: FrameError.invalid(.path)) { try workerMessages(frame(WorkerMessage.ended(unnamed))) }
    }

    @Test("a path is told in one way, and is UTF-8")
    func pathForms() throws {
        let empty = LeaseEnd(lease: 1, outcome: .complete(.file(length: 1, name: "")))
        #expect(
            try workerMessages(frame(WorkerMessage.ended(empty)))
                == [.ended(LeaseEnd(lease: 1, outcome: .complete(.file(length: 1))))])
        for path in ["a", "...", "..a/b..", ".a", String(repeating: "a", count: 4095)] {
            let end = LeaseEnd(lease: 1, outcome: .complete(.file(length: 1, name: path)))
            #expect(try workerMessages(frame(WorkerMessage.ended(end))) == [.ended(end)])
        }
        let start = little(UInt64(1)) + [3] + little(UInt64(1)) + little(UInt32(2))
        #expect(throws: FrameError.invalid(.path)) { try workerMessages(frame(kind: 20, start + [0xC3, 0x28])) }
    }

    @Test("a collision of an unknown kind is refused", arguments: [5, 0xFF] as [UInt8])
    func collisions(kind: UInt8) {
        let sink: [UInt8] = little(UInt64(1)) + [1, 2, 0, 0] + little(UInt32(1)) + [0x61] + [kind]
        #expect(throws: FrameError.invalid(.collision)) { try coordinatorMessages(frame(kind: 4, sink)) }
    }

    /// The strongest check there is: what is accepted says exactly what the bytes said, so it also holds no more memory
    /// than they did.
    @Test("mutated and random frames are refused, or come back byte for byte")
    func mutations() {
        let rounds: UInt64 = runsLongTests ? 1_000_000 : 50_000
        var accepted = 0
        for seed in 0..<rounds {
            var random = SeededGenerator(seed: seed)
            let kind = Int(random.next() % UInt64(CoordinatorMessage.kinds + WorkerMessage.kinds))
            var bytes = randomFrame(kind, random.next())
            mutate(&bytes, &random)
            var buffer = FrameBuffer(capacity: 4096)
            buffer.receive(bytes)
            var again: [UInt8]?
            do throws(FrameError) {
                if kind < CoordinatorMessage.kinds {
                    guard let message = try buffer.next(CoordinatorMessage.read) else { continue }
                    if case .hello(let hello) = message, hello.version != WireProtocol.version { continue }
                    again = frame(message)
                } else {
                    guard let message = try buffer.next(WorkerMessage.read) else { continue }
                    if case .ready(let ready) = message, ready.version != WireProtocol.version { continue }
                    again = frame(message)
                }
            } catch {
                continue
            }
            accepted += 1
            if let again, again != Array(bytes.prefix(again.count)) || again.count + buffer.count != bytes.count {
                Issue.record("seed \(seed): the frame says something else than its message")
            }
        }
        // Some mutations change nothing but a number.
        #expect(accepted > rounds / 100)
    }

    private func mutate(_ bytes: inout [UInt8], _ random: inout SeededGenerator) {
        let header = WireProtocol.headerLength
        switch random.next() % 8 {
        case 0:
            // Noise with a header that fits it.
            bytes = frame(kind: bytes[4], random.bytes(upTo: 100))
        case 1:
            // Noise altogether.
            bytes = random.bytes(upTo: 100)
        case 2:
            // A part is missing or doubled, the length says so.
            let payload = Array(bytes[header...])
            let from = Int.random(in: 0...payload.count, using: &random)
            let to = Int.random(in: 0...payload.count, using: &random)
            bytes = frame(kind: bytes[4], descriptors: bytes[5], Array(payload[..<from] + payload[to...]))
        default:
            for _ in 0...random.next() % 3 {
                let index = Int.random(in: 0..<bytes.count, using: &random)
                switch random.next() % 4 {
                case 0: bytes[index] ^= 1 << UInt8(random.next() % 8)
                case 1: bytes[index] = random.pick([0, 1, 0x7F, 0x80, 0xFF])
                case 2: for place in index..<min(index + 4, bytes.count) { bytes[place] = 0xFF }
                default: bytes[index] = UInt8(truncatingIfNeeded: random.next())
                }
            }
        }
    }

    /// A valid frame; kinds of the coordinator first, then those of the worker.
    private func randomFrame(_ kind: Int, _ seed: UInt64) -> [UInt8] {
        var random = SeededGenerator(seed: seed)
        if kind < CoordinatorMessage.kinds { return frame(CoordinatorMessage.random(kind: kind, using: &random)) }
        return frame(WorkerMessage.random(kind: kind - CoordinatorMessage.kinds, using: &random))
    }

    private func decode(_ bytes: [UInt8], _ kind: Int) throws(FrameError) {
        if kind < CoordinatorMessage.kinds {
            _ = try coordinatorMessages(bytes)
        } else {
            _ = try workerMessages(bytes)
        }
    }
}
