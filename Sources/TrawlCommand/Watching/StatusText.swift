import Trawl
import TrawlHTTP
import TrawlWatch

/// A report for people, in lines of printable ASCII: what it is made of may come from a socket of anybody's.
enum StatusText {
    /// Hosts and kinds of errors that are shown where lines are no matter.
    private static let mostHosts = 20
    private static let mostFailures = 8

    /// The lines, most important first.
    ///
    /// - Parameters:
    ///   - width: Columns; no line has more. Below one there are no lines.
    ///   - height: Lines at most.
    static func lines(_ report: StatusReport, width: Int, height: Int = .max) -> [String] {
        guard width > 0, height > 0 else { return [] }
        var lines = [heading(report), fetches(report), traffic(report), cache(report)]
        if !report.failures.isEmpty { lines.append(failures(report)) }
        lines.append(workers(report))
        let odd = report.workers.filter { $0.state != .ready || $0.restarts > 0 }
        lines += odd.prefix(max(0, min(8, height - lines.count - 1))).map(worker)
        lines += hosts(report, room: height - lines.count)
        return lines.prefix(height).map { String($0.prefix(width)) }
    }

    private static func heading(_ report: StatusReport) -> String {
        let stage = report.stage == .running ? "" : "  \(report.stage.rawValue)"
        return "trawl \(report.program.asciiSafe) \(report.process)  up \(span(report.uptime))\(stage)"
    }

    private static func fetches(_ report: StatusReport) -> String {
        let fetches = report.fetches
        var parts = [
            "\(fetches.done) done", "\(fetches.failed) failed", "\(fetches.inFlight) in flight",
            "\(fetches.waiting) waiting",
        ]
        if fetches.waitingForNetwork > 0 { parts[3] += " (\(fetches.waitingForNetwork) for the network)" }
        if fetches.retries > 0 { parts.append("\(fetches.retries) tried again") }
        return "fetches   " + parts.joined(separator: ", ")
    }

    private static func traffic(_ report: StatusReport) -> String {
        let traffic = report.traffic
        var text = "traffic   in \(ByteText.short(traffic.receivedRate))/s, out \(ByteText.short(traffic.sentRate))/s"
        text += "; in all in \(ByteText.short(traffic.received)), out \(ByteText.short(traffic.sent))"
        if let limit = limit(traffic) { text += "; limit \(limit)" }
        return traffic.isThrottled ? text + ", reached" : text
    }

    private static func limit(_ traffic: StatusReport.Traffic) -> String? {
        if traffic.isJoint, let limit = traffic.receivedLimit { return "\(ByteText.short(limit))/s" }
        let received = traffic.receivedLimit.map { "in \(ByteText.short($0))/s" }
        let sent = traffic.sentLimit.map { "out \(ByteText.short($0))/s" }
        let parts = [received, sent].compactMap { $0 }
        return parts.isEmpty ? nil : parts.joined(separator: ", ")
    }

    private static func cache(_ report: StatusReport) -> String {
        let cache = report.cache
        var parts = ["\(cache.hits) hits", "\(cache.validated) validated"]
        if cache.stale > 0 { parts.append("\(cache.stale) stale") }
        parts.append("\(cache.misses) misses")
        let share = cache.share.map { " (\(Int(($0 * 100).rounded(.down))) %)" } ?? ""
        return "cache     " + parts.joined(separator: ", ") + share
    }

    private static func failures(_ report: StatusReport) -> String {
        var parts = report.failures.prefix(mostFailures).map { "\($0.count) \($0.code.asciiSafe)" }
        let rest = report.failures.count - parts.count
        if rest > 0 { parts.append("\(rest) more kinds") }
        return "errors    " + parts.joined(separator: ", ")
    }

    private static func workers(_ report: StatusReport) -> String {
        let states = StatusReport.Worker.State.allCases.compactMap { state -> String? in
            let count = report.workers.count { $0.state == state }
            return count > 0 ? "\(count) \(state.rawValue)" : nil
        }
        // Numbers of a report are anybody's.
        let restarts = report.workers.reduce(UInt64(0)) { $0 &+ UInt64(max(0, $1.restarts)) }
        return "workers   " + (states + (restarts > 0 ? ["\(restarts) restarts"] : [])).joined(separator: ", ")
    }

    private static func worker(_ worker: StatusReport.Worker) -> String {
        let process = worker.process.map { "pid \($0)" } ?? "no process"
        return "  \(worker.slot)  \(process)  \(worker.state.rawValue)  \(worker.transfers) in flight  "
            + "\(worker.restarts) restarts"
    }

    // MARK: Hosts

    private static func hosts(_ report: StatusReport, room: Int) -> [String] {
        guard !report.hosts.isEmpty, room > 1 else { return [] }
        let shown = report.hosts.prefix(min(mostHosts, room - 1))
        var lines = ["hosts     \(report.hostCount)  (in flight, waiting)"]
        let flight = shown.map { "\($0.inFlight)" }
        let waiting = shown.map { "\($0.waiting)" }
        let columns = (flight.map(\.count).max() ?? 0, waiting.map(\.count).max() ?? 0)
        for (index, host) in shown.enumerated() {
            var line = "  " + padded(flight[index], columns.0) + "  " + padded(waiting[index], columns.1)
            line += "  \(host.origin.asciiSafe)"
            if let note = note(host) { line += "  \(note)" }
            lines.append(line)
        }
        let rest = report.hostCount - shown.count
        if rest > 0, lines.count < room { lines.append("  and \(rest) more") }
        return lines
    }

    private static func note(_ host: StatusReport.Host) -> String? {
        var parts: [String] = []
        switch host.circuit {
        case .closed: break
        case .open: parts.append("circuit open")
        case .halfOpen: parts.append("circuit half open")
        case .probing: parts.append("probing")
        }
        if host.state == .retired { parts.append("given up") }
        if let left = host.snoozedFor { parts.append("resting \(span(left, exact: true))") }
        return parts.isEmpty ? nil : parts.joined(separator: ", ")
    }

    private static func padded(_ text: String, _ width: Int) -> String {
        String(repeating: " ", count: max(0, width - text.count)) + text
    }

    /// `4.2s`, `1:05`, `2:03:09`.
    private static func span(_ duration: Duration, exact: Bool = false) -> String {
        let milliseconds = max(0, duration.clampedNanoseconds / 1_000_000)
        if exact, milliseconds < 60_000 {
            let tenths = (milliseconds + 99) / 100
            return "\(tenths / 10).\(tenths % 10)s"
        }
        return ProgressLine.time(Double(milliseconds / 1000))
    }
}
