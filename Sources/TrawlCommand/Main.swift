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

    private static func run(_ given: [String]) -> Int32 {
        let arguments: [String]
        do throws(CommandError) {
            arguments = try ArgumentExpansion.expand(given) { file throws(CommandError) in
                try StandardStreams.readAll(file, limit: 1 << 20)
            }
        } catch {
            StandardStreams.writeText("trawl: \(error.message)\n", to: STDERR_FILENO)
            return error.status
        }
        // Almost always it is a get: parsed without its parent, it starts a third sooner. What it refuses, help and
        // words that name other subcommands among it, is the parent's to answer.
        let isNamed = arguments.first == GetCommand.configuration.commandName
        if isNamed || !TrawlCommand.isSubcommand(arguments.first ?? ""),
            let get = try? GetCommand.parse(isNamed ? Array(arguments.dropFirst()) : arguments)
        {
            return get.execute()
        }
        do {
            var command = try TrawlCommand.parseAsRoot(arguments)
            if let get = command as? GetCommand { return get.execute() }
            if let batch = command as? BatchCommand { return batch.execute() }
            if let pipe = command as? PipeCommand { return pipe.execute() }
            try command.run()
            return ExitStatus.success
        } catch {
            return explain(error, of: arguments.first ?? "")
        }
    }

    /// Help and the version go to standard output; what is wrong with the arguments, in one line, to standard error.
    private static func explain(_ error: any Error, of first: String) -> Int32 {
        if TrawlCommand.exitCode(for: error) == .success {
            StandardStreams.writeText(TrawlCommand.fullMessage(for: error) + "\n", to: STDOUT_FILENO)
            return ExitStatus.success
        }
        let message = TrawlCommand.message(for: error)
        let line = message.split(whereSeparator: \.isNewline).joined(separator: " ").terminalSafe
        let subcommand = TrawlCommand.isSubcommand(first) && first != "help" ? first : "get"
        StandardStreams.writeText("trawl: \(line) (see: trawl help \(subcommand))\n", to: STDERR_FILENO)
        return ExitStatus.usage
    }
}
