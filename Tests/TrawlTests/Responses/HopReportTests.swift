import Testing
import TrawlProtocol

@testable import Trawl

@Suite("What a hop took")
struct HopReportTests {
    @Test("a response may come after hours and take days; a phase that did not happen has no time")
    func long() {
        var metrics = HopMetrics()
        metrics.requestSent = 5
        metrics.firstByte = 7_200_000_000
        metrics.ended = 604_800_000_000
        var report = HopReport(url: "http://a.test/", status: 200, version: "HTTP/1.1", slot: 0, metrics: metrics)
        #expect(report.connected == nil && report.requestSent == .microseconds(5))
        #expect(report.firstByte == .seconds(7200) && report.ended == .seconds(604_800))
        // A worker may say anything.
        metrics.ended = .max
        report = HopReport(url: "http://a.test/", status: 200, version: "HTTP/1.1", slot: 0, metrics: metrics)
        #expect(report.ended == .microseconds(Int64.max))
    }
}
