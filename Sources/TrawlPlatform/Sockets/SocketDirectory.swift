import CTrawlPlatform
import Glibc

/// A directory in which sockets have their names.
///
/// Names are reached through the open directory, so neither a long path nor somebody who moves things about has a part
/// in it (the address of a socket holds 107 bytes).
package final class SocketDirectory: Sendable {
    /// Its path, for people.
    package let path: String
    private let descriptor: Descriptor

    /// How long another process is waited for that looks after the same directory; it needs a few calls.
    private static let patience = Duration.milliseconds(200)

    /// Opens a directory.
    ///
    /// - Parameter isOwn: Whether it must be this user's, and nobody else's to enter; else it may be anybody's.
    /// - Throws: `EPERM` for one that is not.
    package init(path: String, isOwn: Bool) throws(SystemError) {
        self.path = path
        let flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC | (isOwn ? O_NOFOLLOW : 0)
        let opened = open(path, flags)
        guard opened >= 0 else { throw SystemError(errno: errno, call: "open") }
        descriptor = opened > 2 ? Descriptor(adopting: opened) : try Descriptor(adopting: opened).duplicated(atLeast: 3)
        guard isOwn else { return }
        var info = stat()
        guard fstat(descriptor.rawValue, &info) == 0, info.st_uid == geteuid(), info.st_mode & 0o077 == 0 else {
            throw SystemError(errno: EPERM, call: "open")
        }
    }

    /// The directories where a user's programs have their sockets, the better one first: `trawl` in the runtime
    /// directory, and `trawl-UID` in that for temporary files.
    ///
    /// - Parameters:
    ///   - runtime: `XDG_RUNTIME_DIR`.
    ///   - temporary: `TMPDIR`.
    package static func paths(runtime: String?, temporary: String?) -> [String] {
        var paths: [String] = []
        if let runtime, runtime.hasPrefix("/") { paths.append(runtime + "/trawl") }
        let temporary = temporary.flatMap { $0.hasPrefix("/") ? $0 : nil } ?? "/tmp"
        paths.append(temporary + "/trawl-\(geteuid())")
        return paths
    }

    /// The first of these directories that can be used; it is made where that is possible.
    ///
    /// - Throws: What is wrong with the last.
    package static func made(_ paths: [String]) throws(SystemError) -> SocketDirectory {
        var problem = SystemError(errno: ENOENT, call: "mkdir")
        for path in paths {
            mkdir(path, 0o700)
            do throws(SystemError) {
                return try SocketDirectory(path: path, isOwn: true)
            } catch {
                problem = error
            }
        }
        throw problem
    }

    /// Listens at a name. Where nobody listens at it any more, it is taken over.
    ///
    /// The socket's file has mode 0600 from the first moment.
    /// - Parameter backlog: Connections that may wait to be taken.
    /// - Throws: `EADDRINUSE` when somebody listens there, or the name is of something else.
    package func listen(at name: String, backlog: Int32) throws(SystemError) -> Descriptor {
        lock()
        defer { unlock() }
        let socket = try Descriptor.adopt(cplatform_local_socket(), "socket")
        var bound = cplatform_local_bind(socket.rawValue, address(of: name), 0o600)
        if bound == -EADDRINUSE, isStale(name), unlinkat(descriptor.rawValue, name, 0) == 0 {
            bound = cplatform_local_bind(socket.rawValue, address(of: name), 0o600)
        }
        _ = try check(bound, "bind")
        _ = try check(cplatform_listen(socket.rawValue, backlog), "listen")
        return socket
    }

    /// The path of a name, for people.
    package func path(of name: String) -> String { path.hasSuffix("/") ? path + name : path + "/" + name }

    /// Takes a name away.
    package func remove(_ name: String) {
        unlinkat(descriptor.rawValue, name, 0)
    }

    /// Connects to who listens at a name, without waiting.
    ///
    /// - Throws: `ECONNREFUSED` when nobody does any more, `EAGAIN` when too many wait already.
    package func connect(to name: String) throws(SystemError) -> Descriptor {
        try LocalSocket.connect(path: address(of: name))
    }

    /// Takes the name of a socket away when nobody listens there any more.
    ///
    /// - Returns: Whether it is gone.
    @discardableResult
    package func removeIfStale(_ name: String) -> Bool {
        lock()
        defer { unlock() }
        return isStale(name) && unlinkat(descriptor.rawValue, name, 0) == 0
    }

    /// All names in the directory.
    package func names() -> [String] {
        let opened = openat(descriptor.rawValue, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard opened >= 0 else { return [] }
        guard let stream = fdopendir(opened) else {
            close(opened)
            return []
        }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { name in
                name.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }

    /// A socket at whose other end nobody has been since its process ended.
    private func isStale(_ name: String) -> Bool {
        var info = stat()
        guard fstatat(descriptor.rawValue, name, &info, AT_SYMLINK_NOFOLLOW) == 0, info.st_mode & S_IFMT == S_IFSOCK
        else { return false }
        do throws(SystemError) {
            _ = try connect(to: name)
            return false
        } catch {
            return error.errno == ECONNREFUSED
        }
    }

    private func address(of name: String) -> String { "/proc/self/fd/\(descriptor.rawValue)/\(name)" }

    /// Between two calls of one process another must not take a name for stale that is just being made. Who does not
    /// come to an end is not waited for for ever.
    private func lock() {
        FileLock.take(descriptor.rawValue, within: Self.patience)
    }

    private func unlock() {
        FileLock.release(descriptor.rawValue)
    }
}
