import Glibc
import Trawl
import TrawlHTTP
import TrawlPlatform
import TrawlWatch

/// A socket at which a coordinator tells what it is doing.
struct RunningTrawl {
    /// Why there is no report.
    enum Failure: Error, Equatable {
        /// Nobody listens there.
        case none
        /// It is another user's.
        case notPermitted
        /// Who listens there does not answer.
        case silent
        /// What came is no report, or none that this version understands.
        case strange(String)
        /// What the system says.
        case system(Int32)
    }

    /// The longest report that is read.
    private static let longestReport = 1 << 20

    private let directory: SocketDirectory
    private let name: String
    /// Whether a socket at which nobody listens any more may be taken away: it is known to be one of ours.
    private let removesStale: Bool
    /// The socket's path, for messages.
    var path: String { directory.path(of: name) }

    /// The socket at a path.
    init(path: String) throws(Failure) {
        do throws(SystemError) {
            let absolute = try LocalPath.absolute(path)
            directory = try SocketDirectory(path: LocalPath.parent(absolute), isOwn: false)
            name = LocalPath.name(of: absolute)
            removesStale = false
        } catch {
            switch error.errno {
            case ENOENT, ENOTDIR: throw .none
            case EACCES, EPERM: throw .notPermitted
            default: throw .system(error.errno)
            }
        }
    }

    private init(_ directory: SocketDirectory, _ name: String) {
        self.directory = directory
        self.name = name
        removesStale = true
    }

    /// All sockets where this user's programs have theirs, by process. Names of processes that were killed are taken
    /// away.
    ///
    /// - Parameter process: The one that is wanted; nil is all of them.
    static func all(of process: Int32? = nil) -> [RunningTrawl] {
        var found: [(process: Int32, run: RunningTrawl)] = []
        for path in StatusSocket.directories {
            guard let directory = try? SocketDirectory(path: path, isOwn: true) else { continue }
            for name in directory.names().sorted() {
                guard let owner = StatusSocket.process(ofName: name), process == nil || owner == process else {
                    continue
                }
                found.append((owner, RunningTrawl(directory, name)))
            }
        }
        return found.sorted { $0.process < $1.process }.map(\.run)
    }

    /// Asks for a report.
    ///
    /// - Parameter patience: How long it may take in all.
    func report(patience: Duration = .seconds(3)) throws(Failure) -> StatusReport {
        let end = MonotonicClock.now().advanced(by: patience)
        let bytes: [UInt8]
        do throws(SystemError) {
            let socket = try directory.connect(to: name)
            let user = try LocalSocket.peer(of: socket.rawValue).user
            guard user == geteuid() || user == 0 || geteuid() == 0 else {
                throw SystemError(errno: EACCES, call: "connect")
            }
            bytes = try Self.read(socket.rawValue, until: end)
        } catch {
            switch error.errno {
            case ECONNREFUSED:
                if removesStale { directory.removeIfStale(name) }
                throw .none
            case ENOENT: throw .none
            case EACCES, EPERM: throw .notPermitted
            case EAGAIN, ETIMEDOUT: throw .silent
            default: throw .system(error.errno)
            }
        }
        // Its engine had no time.
        if bytes.isEmpty { throw .silent }
        do throws(StatusReport.ReadingError) {
            return try bytes.span.withUnsafeBytes { (bytes) throws(StatusReport.ReadingError) in
                try StatusReport(json: bytes)
            }
        } catch {
            switch error {
            case .version(let number): throw .strange("a report of version \(number), which this program does not know")
            case .malformed, .unusable: throw .strange("what is no report")
            }
        }
    }

    private static func read(_ socket: Int32, until end: MonotonicInstant) throws(SystemError) -> [UInt8] {
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 1 << 16)
        while bytes.count <= longestReport {
            let count = Glibc.read(socket, &chunk, chunk.count)
            if count > 0 {
                bytes += chunk[..<count]
                continue
            }
            if count == 0 { return bytes }
            switch errno {
            case EINTR: continue
            // Its process may have ended after it had answered.
            case ECONNRESET: return bytes
            case EAGAIN:
                let left = MonotonicClock.now().duration(to: end)
                guard left > .zero else { throw SystemError(errno: ETIMEDOUT, call: "read") }
                var poller = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
                _ = poll(&poller, 1, Int32(clamping: left.clampedMilliseconds))
            case let number: throw SystemError(errno: number, call: "read")
            }
        }
        return bytes
    }
}

extension RunningTrawl.Failure {
    /// What a person is told about the socket at a path.
    func message(_ path: String) -> String {
        switch self {
        case .none: "\(path.terminalSafe): nothing runs there"
        case .notPermitted: "\(path.terminalSafe): it is another user's"
        case .silent: "\(path.terminalSafe): it does not answer"
        case .strange(let what): "\(path.terminalSafe): it says \(what)"
        case .system(let number): "\(path.terminalSafe): \(SystemError.reason(number))"
        }
    }

    /// The exit status.
    var status: Int32 {
        switch self {
        case .none: ExitStatus.someFailed
        case .notPermitted: ExitStatus.noPermission
        case .silent: ExitStatus.engineDown
        case .strange: ExitStatus.dataError
        case .system: ExitStatus.engineDown
        }
    }
}
