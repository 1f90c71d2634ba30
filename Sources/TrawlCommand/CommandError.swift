import Trawl
import TrawlPlatform

/// Why the command cannot go on: a line for standard error and an exit status.
struct CommandError: Error, Equatable {
    let message: String
    let status: Int32
    /// The exit status of `get` with a single URL, where that is curl's own.
    let curlStatus: Int32

    init(_ message: String, status: Int32 = ExitStatus.usage, curlStatus: Int32? = nil) {
        self.message = message
        self.status = status
        self.curlStatus = curlStatus ?? status
    }

    /// What the system says about a file.
    ///
    /// - Parameter option: The one that names it.
    init(
        file path: String, _ number: Int32, option: String? = nil, status: Int32 = ExitStatus.usage,
        curlStatus: Int32? = nil
    ) {
        let name = option.map { $0 + ": " } ?? ""
        self.init(
            "\(name)\(FailureText.path(path)): \(SystemError.reason(number))", status: status, curlStatus: curlStatus)
    }
}
