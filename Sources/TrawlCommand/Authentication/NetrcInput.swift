import Glibc
import Trawl
import TrawlPlatform
import TrawlSession

/// The netrc file of a run, looked at before anything is fetched.
enum NetrcInput {
    /// Throws when it cannot be read or makes no sense. A pipe, such as that of a shell's `<(…)`, has its content once:
    /// in its place fetches read a copy in memory, which is there as long as this process.
    ///
    /// - Parameter name: The option that was given, for messages.
    static func settle(
        _ file: inout RequestOptions.Authentication.NetrcFile, option name: String
    ) throws(CommandError) {
        let path: String
        var info = stat()
        switch file {
        case .none:
            return
        case .file(let named):
            path = named
        case .optional(let named):
            path = named
            if stat(path, &info) != 0, errno == ENOENT { return }
        }
        let limits = Netrc.Limits()
        let text = try StandardStreams.readAll(path == "-" ? "./-" : path, limit: limits.bytes, option: name)
        let fault: NetrcFault? = text.withUnsafeBytes { bytes in
            do throws(NetrcFault) {
                _ = try NetrcParser.parse(bytes, limits: limits)
                return nil
            } catch {
                return error
            }
        }
        if let fault {
            throw CommandError(
                "\(name): \(path.terminalSafe): \(fault.explanation)", curlStatus: ExitStatus.Curl.readError)
        }
        guard stat(path, &info) == 0, info.st_mode & S_IFMT == S_IFIFO else { return }
        do throws(SystemError) {
            let copy = try MemoryFile(name: "netrc")
            try text.span.withUnsafeBytes { (bytes) throws(SystemError) in try copy.write(bytes) }
            let number = try copy.descriptor.duplicated(atLeast: 3).release()
            file = .file("/proc/self/fd/\(number)")
        } catch {
            throw CommandError(file: path, error.errno, option: name, curlStatus: ExitStatus.Curl.readError)
        }
    }
}
