// TrawlCommand: the command line on the library. It owns signals, standard streams and words for people; what a fetch
// is and does is the library's. It never touches libcurl.

import ArgumentParser
import Glibc
import Trawl
import TrawlWorker

@main
enum Main {
    static func main() {
        let arguments = CommandLine.arguments
        // A worker is this executable started again. It comes first: its start counts for every run.
        if arguments.count > 1, arguments[1] == "worker" { _exit(WorkerProcessMain.run()) }
        StandardStreams.makeSafe()
        exit(run(Array(arguments.dropFirst())))
    }

    private static func run(_ arguments: [String]) -> Int32 {
        // Almost always it is a get: parsed without its parent, it starts a third sooner. What it refuses, help and
        // words that name subcommands among it, is the parent's to answer.
        if let first = arguments.first, !TrawlCommand.isSubcommand(first), let get = try? GetCommand.parse(arguments) {
            return get.execute()
        }
        do {
            var command = try TrawlCommand.parseAsRoot(arguments)
            if let get = command as? GetCommand { return get.execute() }
            try command.run()
            return ExitStatus.success
        } catch {
            return explain(error)
        }
    }

    /// Help and the version go to standard output; what is wrong with the arguments, in one line, to standard error.
    private static func explain(_ error: any Error) -> Int32 {
        if TrawlCommand.exitCode(for: error) == .success {
            StandardStreams.writeText(TrawlCommand.fullMessage(for: error) + "\n", to: STDOUT_FILENO)
            return ExitStatus.success
        }
        let message = TrawlCommand.message(for: error)
        let line = message.split(whereSeparator: \.isNewline).joined(separator: " ").terminalSafe
        StandardStreams.writeText("trawl: \(line) (see: trawl help get)\n", to: STDERR_FILENO)
        return ExitStatus.usage
    }
}
