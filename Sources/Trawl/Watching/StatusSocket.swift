import Glibc
import TrawlPlatform

/// Where a coordinator tells what it is doing: `trawl status` and `trawl top` ask there, and any program that reads
/// JSON.
///
/// Whoever connects gets one line of JSON, described in `docs/watching.md`, and the end of the stream. Only processes
/// of the same user, and of root, are answered; nothing they send is read. It names origins, and never a path or a
/// credential.
public enum StatusSocket: Sendable, Hashable {
    /// Nowhere.
    case none
    /// At a name made of the process's number, in `$XDG_RUNTIME_DIR/trawl`, else in a directory of the user's own
    /// beneath that for temporary files: where `trawl status` looks. When there can be no socket the coordinator works
    /// without; ``Coordinator/statusSocketProblem`` says why.
    case standard
    /// At this path, which must be free or a socket at which nobody listens any more. A coordinator does not start
    /// without it.
    case path(String)
}

/// A socket that listens, and its name.
final class StatusListener: Sendable {
    /// Connections that may wait to be taken.
    private static let backlog: Int32 = 64
    /// Coordinators of one process that can have a name each.
    private static let mostNumbers = 64

    /// Its path.
    let path: String
    let socket: Descriptor
    private let directory: SocketDirectory
    private let name: String
    private let hasName = Guarded(true)

    private init(_ directory: SocketDirectory, _ name: String, _ socket: consuming Descriptor) {
        self.directory = directory
        self.name = name
        self.socket = socket
        path = directory.path(of: name)
    }

    /// Takes the name away; nobody is served any more. Once: later the name may be that of the next coordinator.
    func close() {
        let isFirst = hasName.withLock { hasName in
            defer { hasName = false }
            return hasName
        }
        if isFirst { directory.remove(name) }
    }

    /// Listens at a path.
    static func at(_ path: String) throws(SystemError) -> StatusListener {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        guard let last = parts.last, !last.isEmpty, last != ".", last != "..", !path.utf8.contains(0) else {
            throw SystemError(errno: EINVAL, call: "bind")
        }
        let parent =
            parts.count == 1
            ? "."
            : parts.count == 2 && path.hasPrefix("/")
                ? "/"
                : String(
                    path.dropLast(last.count + 1))
        let directory = try SocketDirectory(path: parent, isOwn: false)
        return StatusListener(directory, String(last), try directory.listen(at: String(last), backlog: backlog))
    }

    /// Listens at the first free name of this process. Names of processes that were killed are taken away.
    static func standard() throws(SystemError) -> StatusListener {
        let directory = try SocketDirectory.made(StatusSocket.directories)
        for name in directory.names() {
            guard let process = StatusSocket.process(ofName: name), kill(process, 0) != 0, errno == ESRCH else {
                continue
            }
            directory.removeIfStale(name)
        }
        var number = 0
        while true {
            let name = StatusSocket.name(process: getpid(), number: number)
            do throws(SystemError) {
                return StatusListener(directory, name, try directory.listen(at: name, backlog: backlog))
            } catch {
                number += 1
                guard error.errno == EADDRINUSE, number < mostNumbers else { throw error }
            }
        }
    }
}

extension StatusSocket {
    /// The directories where ``standard`` sockets are, as the environment has it.
    package static var directories: [String] {
        SocketDirectory.paths(
            runtime: getenv("XDG_RUNTIME_DIR").map { String(cString: $0) },
            temporary: getenv("TMPDIR").map { String(cString: $0) })
    }

    /// The name of the n-th coordinator of a process: `1234.sock`, `1234-1.sock`.
    package static func name(process: Int32, number: Int = 0) -> String {
        number == 0 ? "\(process).sock" : "\(process)-\(number).sock"
    }

    /// The process that such a name is of; nil for other names.
    package static func process(ofName name: String) -> Int32? {
        guard name.hasSuffix(".sock") else { return nil }
        let parts = name.dropLast(5).split(separator: "-", omittingEmptySubsequences: false)
        guard (1...2).contains(parts.count), parts.allSatisfy({ $0.allSatisfy { $0.isASCII && $0.isNumber } }),
            let process = Int32(parts[0]), process > 0, parts.count == 1 || Int(parts[1]) != nil
        else { return nil }
        return process
    }
}
