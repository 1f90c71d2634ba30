import ArgumentParser
import Glibc
import TrawlPlatform
import TrawlSession

/// `trawl cookies export [FILE]`
struct CookiesExportCommand: CookiesSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Write the cookies as cookies.txt, which curl reads, or as JSON lines.",
        discussion: """
            cookies.txt has whole seconds and no SameSite; cookies with a tab in them cannot stand in it and are left out, \
            which is told.
            """)

    @Argument(
        help: ArgumentHelp("Where to; '-' or nothing is standard output.", valueName: "file"), completion: .file())
    var file = "-"

    @OptionGroup var jar: CookieJarArguments
    @OptionGroup var output: ListingArguments

    func execute(on jar: CookiesAtHand) throws(CommandError) -> Int32 {
        let cookies = try jar.cookies()
        var unwritten = 0
        if output.json, file == "-" {
            var lines = ResultLines()
            for cookie in cookies {
                try lines.add { cookie.write(to: &$0) }
                if lines.isClosed { break }
            }
            try lines.flush()
        } else {
            var text: [UInt8] = []
            if output.json {
                var lines = ResultLines()
                for cookie in cookies { lines.gather({ cookie.write(to: &$0) }, into: &text) }
            } else {
                unwritten = NetscapeCookies.write(cookies, to: &text)
            }
            try CookieFileWriter.write(text, to: file)
        }
        if unwritten > 0 {
            StandardStreams.writeText("trawl: \(unwritten) cookies have tabs in them and are left out\n", to: 2)
        }
        return ExitStatus.success
    }
}

/// Writes files of cookies.
enum CookieFileWriter {
    static func write(_ text: [UInt8], to file: String) throws(CommandError) {
        do throws(SystemError) {
            if LocalPath.isStandardOutput(file) {
                do throws(SystemError) {
                    try StandardStreams.write(text, to: STDOUT_FILENO)
                } catch {
                    // A reader who goes away has seen enough.
                    if error.errno != EPIPE { throw error }
                }
                return
            }
            try WholeFile.write(text, to: file)
        } catch {
            throw CommandError(file: file, error.errno, status: ExitStatus.cannotCreate)
        }
    }
}
