import Glibc
import Synchronization
import TrawlHTTP
import TrawlPlatform
import TrawlSession

/// The hosts that have asked for secure transport only, as one coordinator knows them (RFC 6797).
final class SecureHosts: Sendable {
    /// Hosts remembered at most; then those that end first make room.
    private static let most = 10_000

    private let hosts = Guarded<[String: KnownSecureHost]>([:])
    /// Most coordinators know none: asked on the way of every fetch.
    private let hasSome = Atomic(false)

    /// Whether a host takes secure transport only.
    func isSecure(_ host: String) -> Bool {
        guard hasSome.load(ordering: .relaxed) else { return false }
        let now = WallClock.time()
        return hosts.withLock { hosts in TransportSecurity.isSecure(host, at: now) { hosts[$0] } }
    }

    /// Takes what a response changes.
    func apply(_ change: TransportSecurity.Change) {
        hosts.withLock { hosts in
            switch change {
            case .keep(let host):
                hosts[host.name] = host
                if hosts.count > Self.most, let first = hosts.values.min(by: { $0.expires < $1.expires }) {
                    hosts[first.name] = nil
                }
            case .forget(let name): hosts[name] = nil
            }
            hasSome.store(!hosts.isEmpty, ordering: .relaxed)
        }
    }

    /// Those that are known, by name.
    var all: [KnownSecureHost] {
        let now = WallClock.time()
        return hosts.withLock { hosts in hosts.values.filter { $0.expires > now }.sorted { $0.name < $1.name } }
    }

    /// Takes hosts that were kept elsewhere.
    func add(_ others: [KnownSecureHost]) {
        for host in others { apply(.keep(host)) }
    }
}

extension Coordinator {
    /// A host that takes secure transport only.
    public struct SecureHost: Sendable, Hashable {
        /// Its name, in lower case and ASCII form.
        public let name: String
        /// Whether the hosts below it are meant too.
        public let includesSubdomains: Bool
        /// Seconds since 1970 at which it is forgotten.
        public let expires: Int64
    }

    /// The hosts that are known to take secure transport only, by name (RFC 6797). `http` URLs of theirs are fetched by `https`.
    public var secureHosts: [SecureHost] {
        planner.secureHosts.all.map {
            SecureHost(name: $0.name, includesSubdomains: $0.includesSubdomains, expires: $0.expires.seconds)
        }
    }

    /// Forgets a host; true when it was known by that very name.
    @discardableResult
    public func forgetSecureHost(_ name: String) -> Bool {
        guard let name = TransportSecurity.name(of: name), planner.secureHosts.all.contains(where: { $0.name == name })
        else { return false }
        planner.secureHosts.apply(.forget(name))
        return true
    }
}

extension SecureHosts {
    /// The hosts of a file as curl's `--hsts` has them, beside those that are known. A file that is not there holds none.
    ///
    /// - Throws: ``FetchError/Code/file`` when it cannot be read.
    func read(_ path: String) throws(FetchError) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            if errno == ENOENT { return }
            throw .file(path, errno)
        }
        defer { close(descriptor) }
        var text: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = Glibc.read(descriptor, &piece, piece.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw .file(path, errno) }
            if count == 0 { break }
            text += piece[..<count]
            guard text.count <= 16 << 20 else { throw .file(path, EFBIG) }
        }
        add(SecureHostsFile.read(String(decoding: text, as: UTF8.self)))
    }

    /// Writes the known hosts as curl's `--hsts` does, in place of the file.
    ///
    /// - Throws: ``FetchError/Code/file`` when it cannot be written.
    func write(_ path: String) throws(FetchError) {
        let text = Array(SecureHostsFile.text(of: all).utf8)
        let part = path + ".trawl-\(getpid())"
        let descriptor = open(part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw .file(path, errno) }
        var written = 0
        while written < text.count {
            let count = text[written...].withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else {
                let error = errno
                close(descriptor)
                unlink(part)
                throw .file(path, error)
            }
            written += count
        }
        close(descriptor)
        guard rename(part, path) == 0 else {
            let error = errno
            unlink(part)
            throw .file(path, error)
        }
    }
}
