import TestSupport
import TrawlWatch

extension StatusReport {
    /// A report in which nothing is as in another one of another seed.
    static func any(_ random: inout SeededGenerator) -> StatusReport {
        func number(_ random: inout SeededGenerator) -> UInt64 { UInt64.random(in: 0...(1 << 50), using: &random) }
        func small(_ random: inout SeededGenerator) -> Int { Int.random(in: 0...1_000_000, using: &random) }
        var report = StatusReport(
            program: random.text(), process: Int32.random(in: 1...Int32.max, using: &random),
            uptime: .microseconds(Int64.random(in: 0...1_000_000_000_000, using: &random)),
            stage: random.pick(Stage.allCases))
        (report.fetches.waiting, report.fetches.inFlight) = (small(&random), small(&random))
        report.fetches.waitingForNetwork = small(&random)
        (report.fetches.done, report.fetches.failed) = (number(&random), number(&random))
        report.fetches.retries = number(&random)
        (report.traffic.received, report.traffic.sent) = (number(&random), number(&random))
        (report.traffic.receivedRate, report.traffic.sentRate) = (number(&random), number(&random))
        if random.bool() { report.traffic.receivedLimit = number(&random) }
        if random.bool() { report.traffic.sentLimit = number(&random) }
        (report.traffic.isJoint, report.traffic.isThrottled) = (random.bool(), random.bool())
        (report.cache.hits, report.cache.validated) = (number(&random), number(&random))
        (report.cache.stale, report.cache.misses) = (number(&random), number(&random))
        for _ in 0..<small(&random) % 4 {
            report.failures.append(Failure(code: random.text(), count: number(&random)))
        }
        for slot in 0..<small(&random) % 4 {
            report.workers.append(
                Worker(
                    slot: slot, process: random.bool() ? Int32.random(in: 1...Int32.max, using: &random) : nil,
                    state: random.pick(Worker.State.allCases), transfers: small(&random), restarts: small(&random)))
        }
        for _ in 0..<small(&random) % 4 {
            report.hosts.append(
                Host(
                    origin: random.text(), inFlight: small(&random), waiting: small(&random),
                    state: random.pick(Host.State.allCases),
                    snoozedFor: random.bool() ? .microseconds(Int64(small(&random))) : nil,
                    circuit: random.pick(Host.Circuit.allCases)))
        }
        report.hostCount = report.hosts.count + small(&random)
        return report
    }
}

/// What a report's bytes are read as.
func read(_ json: [UInt8]) -> Result<StatusReport, StatusReport.ReadingError> {
    json.withUnsafeBytes { bytes in
        do throws(StatusReport.ReadingError) {
            return .success(try StatusReport(json: bytes))
        } catch {
            return .failure(error)
        }
    }
}
