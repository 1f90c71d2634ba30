import Glibc
import TestSupport
import Testing
import TrawlHTTP
import TrawlProtocol

@testable import TrawlTransfer

@Suite("What waits to be sent to the coordinator")
struct TransferOutputTests {
    private func longHead() throws -> ResponseHead {
        var fields = FieldLines()
        try fields.append("A", String(repeating: "b", count: WireProtocol.maximumPayload))
        return ResponseHead(status: 200, version: .http1_1, reason: "OK", fields: fields)
    }

    @Test("an end that is longer than a frame may be comes as a failure, and its descriptor is closed")
    func longEnd() throws {
        let output = TransferOutput()
        let ends = try #require(OwnDescriptors.socketPair())
        defer { close(ends[0]) }
        let long = LeaseEnd(lease: 7, outcome: .complete(.memory(length: 5)), head: try longHead())
        output.sendEnd(long, descriptor: ends[1])
        // Nobody else has the other end.
        var byte: UInt8 = 0
        let count = read(ends[0], &byte, 1)
        #expect(count == 0)
        var incoming = IncomingFrames()
        let bytes = output.frames.withNextStretch { bytes, descriptors in
            #expect(descriptors.isEmpty)
            return Array(bytes)
        }
        _ = incoming.fill { room in
            room.copyBytes(from: bytes)
            return bytes.count
        }
        guard case .ended(let end)? = try incoming.next(WorkerMessage.read)?.message else {
            Issue.record("no end")
            return
        }
        #expect(end.lease == 7 && end.head == nil)
        guard case .failed(let failure) = end.outcome else {
            Issue.record("no failure")
            return
        }
        #expect(failure.kind == .headTooLarge)
    }

    @Test("a head that is longer than a frame may be is not added")
    func longHeads() throws {
        let output = TransferOutput()
        let head = try longHead()
        #expect(!output.sendHead(lease: 7, head, asks: HeadQuestions(), isStored: false))
        #expect(output.frames.isEmpty)
    }
}
