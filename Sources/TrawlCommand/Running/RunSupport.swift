import Glibc
import Trawl
import TrawlHTTP
import TrawlPlatform

/// What both kinds of runs share.
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

    /// Writes what `-w` asks for.
    static func writeOut(_ format: WriteOut?, _ values: WriteOutValues, on console: Console) throws(SystemError) {
        guard let format else { return }
        let text = format.text(
            values, escapes: (Terminal.isTerminal(STDOUT_FILENO), Terminal.isTerminal(STDERR_FILENO)))
        if !text.error.isEmpty { console.write(text.error) }
        guard !text.output.isEmpty else { return }
        let bytes = Array(text.output.utf8)
        let failure: SystemError? = bytes.withUnsafeBytes { bytes in
            do throws(SystemError) {
                try StandardStreams.write(bytes, to: STDOUT_FILENO)
                return nil
            } catch {
                return error
            }
        }
        if let failure { throw failure }
    }
}

extension FetchError {
    /// A URL with a name or password in it, which nothing sends yet.
    static let credentialsInURL = FetchError(.badRequest, "credentials in a URL are not supported yet")
}
