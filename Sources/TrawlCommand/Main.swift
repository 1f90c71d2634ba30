// TrawlCommand: the command line on the library. It owns signals, standard streams and words for people; what a fetch
// is and does is the library's. It never touches libcurl.

import ArgumentParser
import Glibc
import Trawl
import TrawlPAC
import TrawlPlatform
import TrawlWorker

@main
enum Main {
    static func main() {
        let arguments = CommandLine.arguments
        // A worker is this executable started again. It comes first: its start counts for every run.
        if arguments.count > 1, arguments[1] == "worker" { _exit(WorkerProcessMain.run()) }
        if arguments.count > 1, arguments[1] == "pac" { _exit(ScriptProcessMain.run()) }
        ArgumentSecrets.hide()
        StandardStreams.makeSafe()
        exit(run(Array(arguments.dropFirst())))
    }

    private static func run(_ given: [String]) -> Int32 {
        if let name = ArgumentBytes.firstNotUTF8() {
            return tell(CommandError("\(name) is not text in UTF-8"), likeCurl: false)
        }
        if given.first == "help", let word = given.dropFirst().first, !word.hasPrefix("-"),
            !TrawlCommand.isSubcommand(word)
        {
            return tell(
                CommandError("there is no subcommand '\(FailureText.url(word))' (see: trawl help)"), likeCurl: false)
        }
        // Whatever options stand behind it.
        if let word = given.first, TrawlCommand.isReserved(word) {
            return tell(CommandError(missing(word)), likeCurl: false)
        }
        let isPipe = given.first == PipeCommand.configuration.commandName
        let isNamed = given.first == GetCommand.configuration.commandName
        let isGet = isNamed || !TrawlCommand.isSubcommand(given.first ?? "")
        // Their options are their own, and -K is none of them.
        let hasOwnOptions = TrawlCommand.separate.contains { given.first == $0.configuration.commandName }
        let arguments: [String]
        do throws(CommandError) {
            arguments =
                hasOwnOptions
                ? given
                : try ArgumentExpansion.expand(given) { file throws(CommandError) in
                    if isPipe, file == "-" { throw CommandError("-K -: standard input is for requests") }
                    return try StandardStreams.readAll(file, limit: 1 << 20)
                }
        } catch {
            return tell(error, likeCurl: isGet)
        }
        // Parsed without its parent a command starts a third sooner. What it refuses, help and words that name other
        // subcommands among it, is the parent's to answer.
        if isGet, let get = try? GetCommand.parse(isNamed ? Array(arguments.dropFirst()) : arguments) {
            if !isNamed, let word = get.urls.first {
                if TrawlCommand.isSubcommand(word) { return tell(CommandError(hidden(word)), likeCurl: false) }
                if TrawlCommand.isReserved(word) { return tell(CommandError(missing(word)), likeCurl: false) }
            }
            return execute(get)
        }
        if given.first == BatchCommand.configuration.commandName,
            let batch = try? BatchCommand.parse(Array(arguments.dropFirst()))
        {
            return execute(batch)
        }
        if isPipe, let pipe = try? PipeCommand.parse(Array(arguments.dropFirst())) { return execute(pipe) }
        do {
            var command = try TrawlCommand.parseAsRoot(arguments)
            if let command = command as? any RunnableCommand { return execute(command) }
            try command.run()
            return ExitStatus.success
        } catch {
            return explain(error, of: arguments)
        }
    }

    /// What is said of a subcommand behind options, which would be fetched as a host.
    private static func hidden(_ word: String) -> String {
        "options go behind the subcommand: trawl \(word) … (a host of that name is http://\(word))"
    }

    /// What is said of a subcommand that is to come.
    private static func missing(_ word: String) -> String {
        "there is no subcommand '\(word)' yet (a host of that name is http://\(word))"
    }

    private static func execute(_ command: some RunnableCommand) -> Int32 {
        do throws(CommandError) {
            return try command.execute()
        } catch {
            return tell(error, likeCurl: command.endsLikeCurl)
        }
    }

    /// - Returns: The exit status.
    private static func tell(_ error: CommandError, likeCurl: Bool) -> Int32 {
        StandardStreams.writeText("trawl: \(error.message)\n", to: STDERR_FILENO)
        return likeCurl ? error.curlStatus : error.status
    }

    /// - Returns: The exit status. A reader who goes away has seen enough.
    private static func show(_ text: String) -> Int32 {
        do throws(SystemError) {
            try StandardStreams.write(Array(text.utf8), to: STDOUT_FILENO)
        } catch {
            if error.errno == EPIPE { return ExitStatus.success }
            return tell(
                CommandError(file: "standard output", error.errno, status: ExitStatus.outputError), likeCurl: false)
        }
        return ExitStatus.success
    }

    /// Help and the version go to standard output; what is wrong with the arguments, in one line, to standard error.
    private static func explain(_ error: any Error, of arguments: [String]) -> Int32 {
        if TrawlCommand.exitCode(for: error) == .success {
            return show(TrawlCommand.fullMessage(for: error) + "\n")
        }
        let line = UsageText.of(TrawlCommand.message(for: error), about: arguments)
        StandardStreams.writeText(
            "trawl: \(line) (see: trawl help \(TrawlCommand.helpPage(for: arguments)))\n", to: STDERR_FILENO)
        return ExitStatus.usage
    }
}
