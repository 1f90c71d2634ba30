import Testing
import TrawlHTTP

@testable import Trawl

@Suite("How far one fetch has come")
struct FetchMeterTests {
    private let start = MonotonicInstant(nanoseconds: 1_000_000_000)

    private func head(_ status: UInt16, length: Int64) throws -> Response.ResponseHead {
        var fields = FieldLines()
        try fields.append("Content-Length", "\(length)")
        return Response.ResponseHead(
            TrawlHTTP.ResponseHead(status: status, version: .http1_1, reason: "", fields: fields))
    }

    @Test("what is gone on with counts from the first byte of the whole")
    func resumed() throws {
        let meter = FetchMeter()
        meter.note(.attempt(1))
        meter.note(.head(try head(206, length: 400)))
        meter.note(.resumedAtOffset(100))
        #expect(meter.current.download.completed == 100 && meter.current.download.total == 500)
        meter.measured(FetchProgress(received: 50, expected: 400, sent: 0, decoded: 50), at: start)
        #expect(meter.current.download.completed == 150 && meter.current.download.total == 500)
    }

    @Test("no number of a server or a worker is too large for it")
    func largest() throws {
        let meter = FetchMeter()
        meter.note(.attempt(1))
        meter.note(.head(try head(206, length: .max)))
        meter.note(.resumedAtOffset(100))
        #expect(meter.current.download.total == .max)
        meter.measured(FetchProgress(received: .max, expected: .max, sent: .max, decoded: .max), at: start)
        #expect(meter.current.download.completed == .max && meter.current.download.total == .max)
        #expect(meter.current.decoded == .max)
        meter.note(.resumedAtOffset(.max))
        #expect(meter.current.download.completed == .max)
    }

    @Test(
        "the rest takes as long as its bytes at the rate, and never longer than a program can show",
        arguments: [
            (100, 400, 100, .seconds(3)), (100, 400, 0, nil), (400, 400, 100, .zero), (0, 1, 4, .milliseconds(250)),
            (5, .max, 1, .seconds(100 * 366 * 86_400)), (0, .max, .max, .seconds(1)),
        ] as [(Int64, Int64, UInt64, Duration?)])
    func remaining(moved: Int64, size: Int64, bytesPerSecond: UInt64, expected: Duration?) {
        let direction = TransferProgress.Direction(
            moved: moved, of: size, bytesPerSecond: bytesPerSecond, isComplete: false)
        #expect(direction.remaining == expected)
    }
}
