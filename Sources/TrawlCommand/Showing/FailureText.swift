import Trawl
import TrawlHTTP

/// Failures in words that are safe on a terminal and tell no secret.
enum FailureText {
    /// Code and detail. A file's error says enough by itself.
    static func of(_ error: FetchError) -> String {
        (error.code == .file || error.code == .badRequest) && !error.detail.isEmpty
            ? error.detail.terminalSafe : error.description.terminalSafe
    }

    /// A URL without what stands before an `@` in its authority.
    static func url(_ url: String) -> String {
        UserInformation.removed(from: url).terminalSafe
    }

    /// A file as it was named: as it stands, since its name may hold an `@`, unless that is behind a colon. Then it may be
    /// a URL in the place of a file.
    static func path(_ path: String) -> String {
        path.utf8.prefix { $0 != UInt8(ascii: "@") }.contains(UInt8(ascii: ":")) ? url(path) : path.terminalSafe
    }
}
