import ArgumentParser
import Glibc
import TrawlPlatform

/// `trawl top [PID|SOCKET]`
struct TopCommand: RunnableCommand {
    static let configuration = CommandConfiguration(
        commandName: "top",
        abstract: "Show what running batches, pipes and programs are doing, live.",
        discussion: """
            What trawl status tells, drawn anew each second. q or Ctrl-C ends it. When standard output is no terminal, each picture is \
            written as lines, and an empty line after it.

            With an argument it ends when that run does.

            Exit status: 0 ended, 1 what was asked for does not run, 2 wrong usage; others as those of trawl status.
            """)

    @OptionGroup var watched: WatchedArgument

    @Option(
        name: .customLong("interval"), parsing: .unconditional,
        help: ArgumentHelp("Draw after so many seconds, 0.1 to 3600. Default 1.", valueName: "seconds"))
    var intervalText: String?

    @Option(
        name: .customLong("frames"), parsing: .unconditional,
        help: ArgumentHelp("End after so many pictures.", valueName: "count"))
    var framesText: String?

    var interval: Duration {
        intervalText.flatMap { SecondsArgument(argument: $0)?.duration } ?? .seconds(1)
    }
    var frames: Int? { framesText.flatMap { Int($0) } }

    func validate() throws {
        try OptionText.check(intervalText, "--interval <seconds>", "seconds from 0.1 to 3600") { text in
            SecondsArgument(argument: text).map { (.milliseconds(100)...(.seconds(3600))).contains($0.duration) }
                ?? false
        }
        try OptionText.check(framesText, "--frames <count>", "a number from 1 on") { text in
            Int(text).map { $0 > 0 } ?? false
        }
    }

    func execute() throws(CommandError) -> Int32 {
        let isDumb = getenv("TERM").map { ["", "dumb"].contains(String(cString: $0)) } ?? true
        do throws(SystemError) {
            let run = try TopRun(watched, interval: interval, frames: frames)
            return Terminal.isTerminal(STDOUT_FILENO) && !isDumb ? try run.draw() : try run.print()
        } catch {
            throw CommandError("\(error)", status: ExitStatus.outputError)
        }
    }
}
