import ArgumentParser
import Glibc
import TrawlPlatform
import TrawlWatch

/// `trawl status [PID|SOCKET]`
struct StatusCommand: RunnableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Tell what running batches, pipes and programs are doing.",
        discussion: """
            Each batch and pipe of this user is asked, and each program that has a status socket in the usual place; with an \
            argument only that one. Their workers, hosts, rates, queue, cache and errors are told. With --json each is a JSON \
            object on a line of its own. SIGUSR1 makes a get, batch or pipe tell the same on its standard error.

            Exit status: 0 told, 1 nothing runs, or not what was asked for, 2 wrong usage, 65 what answers is of another version \
            or no trawl, 69 it does not answer, 74 standard output is broken, 77 it is another user's.
            """)

    @OptionGroup var watched: WatchedArgument

    @Flag(name: .customLong("json"), help: "Write JSON, one object a line.")
    var json = false

    func execute() throws(CommandError) -> Int32 {
        let runs = WatchedRuns.asking(watched)
        var lines = ResultLines()
        let width = Terminal.isTerminal(STDOUT_FILENO) ? Terminal.columns(STDOUT_FILENO) : 200
        for (index, report) in runs.reports.enumerated() {
            if json {
                try lines.add(report)
                continue
            }
            if index > 0 { try lines.add("") }
            for line in StatusText.lines(report, width: width) { try lines.add(line) }
        }
        try lines.flush()
        for failure in runs.failures { StandardStreams.writeText("trawl: \(failure.message)\n", to: STDERR_FILENO) }
        if runs.reports.isEmpty, runs.failures.isEmpty {
            StandardStreams.writeText("trawl: nothing that tells its status runs\n", to: STDERR_FILENO)
        }
        return runs.status
    }
}

extension ResultLines {
    /// Adds a report as a line.
    fileprivate mutating func add(_ report: StatusReport) throws(CommandError) {
        // Its JSON ends with the line.
        try add(String(decoding: report.json.dropLast(), as: UTF8.self))
    }
}
