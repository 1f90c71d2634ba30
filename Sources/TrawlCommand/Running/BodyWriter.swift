import Glibc
import Trawl
import TrawlPlatform

/// Where this process itself writes a body: standard output, a device, or a file that appears when it is complete.
///
/// Bound to one thread.
final class BodyWriter {
    private enum Place {
        case standardOutput
        case device(Int32)
        case part(PartFile)
    }

    /// For messages.
    let name: String
    private let place: Place
    private let replaces: Bool

    private init(_ place: Place, name: String, replaces: Bool) {
        self.place = place
        self.name = name
        self.replaces = replaces
    }

    deinit {
        if case .device(let number) = place { close(number) }
    }

    /// Standard output.
    static func standardOutput() -> BodyWriter {
        BodyWriter(.standardOutput, name: "standard output", replaces: true)
    }

    /// A file at the path, or the device, pipe or terminal that is there already.
    ///
    /// - Parameters:
    ///   - path: Absolute.
    ///   - replaces: Whether what is there may be written to; if not, anything there is `EEXIST`.
    static func file(_ path: String, replaces: Bool) throws(SystemError) -> BodyWriter {
        var info = stat()
        // Nothing is opened: of a pipe that would wait for a reader.
        if !replaces, lstat(path, &info) == 0 { throw SystemError(errno: EEXIST, call: "open") }
        let exists = stat(path, &info) == 0
        if exists, info.st_mode & S_IFMT == S_IFDIR { throw SystemError(errno: EISDIR, call: "open") }
        if (exists && info.st_mode & S_IFMT != S_IFREG) || LocalPath.standsForOpenFile(path) {
            let number = open(path, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOCTTY)
            guard number >= 0 else { throw SystemError(errno: errno, call: "open") }
            return BodyWriter(.device(number), name: path.terminalSafe, replaces: true)
        }
        // As with files that workers write: what may not be written to is not replaced either, and a link is followed.
        if exists, access(path, W_OK) != 0 { throw SystemError(errno: errno, call: "access") }
        let place = try replaces ? FileLink.target(of: path) ?? path : path
        do throws(OutputError) {
            return BodyWriter(
                .part(try PartFile.create(besideAbsolutePath: place)), name: path.terminalSafe, replaces: replaces)
        } catch {
            throw error.systemError
        }
    }

    /// A file that is written where it is, from its start.
    ///
    /// - Parameter path: Absolute.
    static func emptied(_ path: String) throws(SystemError) -> BodyWriter {
        let number = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY, 0o666)
        guard number >= 0 else { throw SystemError(errno: errno, call: "open") }
        return BodyWriter(.device(number), name: path.terminalSafe, replaces: true)
    }

    /// The file that appears when it is complete; nil when it is something else.
    var file: Int32? {
        if case .part(let part) = place { part.rawValue } else { nil }
    }

    /// Whether it is this process's standard output.
    var isStandardOutput: Bool {
        if case .standardOutput = place { true } else { false }
    }

    /// Whether bytes go to a terminal.
    var isTerminal: Bool {
        switch place {
        case .standardOutput: Terminal.isTerminal(STDOUT_FILENO)
        case .device(let number): Terminal.isTerminal(number)
        case .part: false
        }
    }

    /// Appends bytes.
    func write(_ bytes: UnsafeRawBufferPointer) throws(SystemError) {
        switch place {
        case .standardOutput: try StandardStreams.write(bytes, to: STDOUT_FILENO)
        case .device(let number): try StandardStreams.write(bytes, to: number)
        case .part(let part): try part.write(bytes)
        }
    }

    /// Makes a file appear under its name.
    func finish() throws(SystemError) {
        if case .part(let part) = place { try part.publish(replacing: replaces, sync: false) }
    }

    /// Leaves no file.
    func abandon() {
        if case .part(let part) = place { part.discard() }
    }
}
