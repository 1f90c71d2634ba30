import Foundation
import TestSupport
import Testing

/// What the benchmark measures must hold: an hour's patience is not asked for, so the fastest rate is left to it.
@Suite(
    "Limits of bandwidth on the wire: rates, sizes, connections, workers, ASI-THR-02", .serialized,
    .enabled(if: runsLongTests, "takes minutes"), .enabled(if: NetworkNamespace.isAllowed, NetworkNamespace.missing),
    .timeLimit(.minutes(30)))
struct BandwidthMatrixTests {
    @Test("ten seconds and each of them are within their bounds", arguments: [65_536, 1_000_000, 10_000_000])
    func matrix(rate: Int) async throws {
        let directory = try TemporaryDirectory()
        let run = try ChildProcess(
            "/usr/bin/env",
            [
                Checkout.path("Tests/Benchmarks/run"), "w5matrix", "--rates", "\(rate)", "--built",
                try BuiltProducts.directory(),
            ], errors: directory.file("errors"))
        #expect(await eventually(within: .seconds(600)) { !run.isRunning })
        let errors = String(decoding: directory.content("errors") ?? [], as: UTF8.self)
        #expect(run.exitStatus(within: 1) == 0, "\(errors)")
        var lines: [String] = []
        while let line = run.readLine() { lines.append(line) }
        // It ends well too where it cannot measure.
        #expect(lines.contains { $0.hasPrefix("| ") } && !lines.contains { $0.hasPrefix("Skipped") }, "\(lines)")
    }
}
