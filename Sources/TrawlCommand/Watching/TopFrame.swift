import TrawlWatch

/// One picture of `trawl top`.
enum TopFrame {
    /// Lines that fit, whatever the room is.
    ///
    /// - Parameters:
    ///   - width: Columns; no line has more.
    ///   - height: Lines at most.
    ///   - hasKeys: Whether a key can end it.
    static func lines(_ runs: WatchedRuns, width: Int, height: Int, hasKeys: Bool) -> [String] {
        guard width > 0, height > 0 else { return [] }
        var lines: [String] = []
        if height > 4 { lines.append(title(runs) + (hasKeys ? "; q ends" : "")) }
        for failure in runs.failures.prefix(max(0, height - lines.count)) { lines.append(failure.message.asciiSafe) }
        var left = runs.reports.count
        for report in runs.reports {
            // Each gets as much as those after it, and what others do not need.
            let gap = lines.isEmpty ? 0 : 1
            let room = (height - lines.count) / max(1, left) - gap
            left -= 1
            guard room > 0 else { continue }
            if gap > 0 { lines.append("") }
            lines += StatusText.lines(report, width: width, height: room)
        }
        return lines.prefix(height).map { String($0.prefix(width)) }
    }

    private static func title(_ runs: WatchedRuns) -> String {
        if runs.reports.isEmpty { return "trawl top: nothing that tells its status runs" }
        let received = runs.reports.reduce(UInt64(0)) { sum, report in
            let (next, overflow) = sum.addingReportingOverflow(report.traffic.receivedRate)
            return overflow ? .max : next
        }
        let rate = runs.reports.count > 1 ? ", in \(ByteText.short(received))/s together" : ""
        return "trawl top: \(runs.reports.count) running\(rate)"
    }
}
