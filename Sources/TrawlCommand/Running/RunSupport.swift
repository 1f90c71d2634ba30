import Glibc
import Trawl
import TrawlHTTP
import TrawlPlatform

/// What the kinds of runs share.
enum RunSupport {
    /// Starts the workers.
    static func coordinator(_ configuration: Configuration) throws(CommandError) -> Coordinator {
        do throws(FetchError) {
            return try Coordinator(configuration)
        } catch {
            let status = error.code == .file ? ExitStatus.cannotCreate : ExitStatus.engineDown
            throw CommandError(text(error), status: error.code == .badRequest ? ExitStatus.usage : status)
        }
    }

    /// Code and detail, safe on a terminal. A file's error says enough by itself.
    static func text(_ error: FetchError) -> String {
        (error.code == .file || error.code == .badRequest) && !error.detail.isEmpty
            ? error.detail.terminalSafe : error.description.terminalSafe
    }

    /// A URL for messages: without what stands before an `@` in its authority.
    static func shown(_ url: String) -> String {
        URLText.withoutUserInformation(url).terminalSafe
    }

    /// Whether more files would meet the same failure.
    static func isBrokenOutput(_ error: FetchError) -> Bool {
        guard error.code == .file, case .system(let number) = error.cause else { return false }
        return [ENOSPC, EDQUOT, EIO, EROFS].contains(number)
    }

    /// With -f workers save bodies of 2xx alone; that of a redirect not followed is wanted too, if it was one.
    static func saveRedirect(_ response: Response, _ path: String) throws(SystemError) {
        guard response.file == nil, response.status < 400, !response.isSuccess else { return }
        let file = try BodyWriter.file(path, replaces: true)
        try response.body.withUnsafeBytes { bytes throws(SystemError) in try file.write(bytes) }
        try file.finish()
    }

    /// Writes what `-w` has for standard error.
    /// - Returns: What it has for standard output.
    static func written(_ format: WriteOut?, _ values: WriteOutValues, on console: Console) -> String {
        guard let format else { return "" }
        let text = format.text(
            values, escapes: (Terminal.isTerminal(STDOUT_FILENO), Terminal.isTerminal(STDERR_FILENO)))
        if !text.error.isEmpty { console.write(text.error) }
        return text.output
    }

    /// Writes what `-w` asks for.
    static func writeOut(_ format: WriteOut?, _ values: WriteOutValues, on console: Console) throws(SystemError) {
        try StandardStreams.write(Array(written(format, values, on: console).utf8), to: STDOUT_FILENO)
    }
}

extension FetchError {
    /// A URL with a name or password in it, which nothing sends yet.
    static let credentialsInURL = FetchError(.badRequest, "credentials in a URL are not supported yet")
}
