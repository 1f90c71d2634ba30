import Glibc
import Synchronization
import TrawlHTTP
import TrawlPlatform
import TrawlSession
import TrawlStore

/// The hosts that have asked for secure transport only (RFC 6797): those of the coordinator's store, which all programs
/// share that use it, or without one those the coordinator has met.
final class SecureHosts: Sendable {
    fileprivate struct Known {
        var hosts: [String: KnownSecureHost] = [:]
        /// What the store says of how often it changed, when it was last read.
        var changes: UInt64? = 0
        /// What is not committed yet, and stands over what is read meanwhile.
        var pending: [UInt64: TransportSecurity.Change] = [:]
        var lastChange: UInt64 = 0
    }

    private let known = Guarded(Known())
    /// Most know none: asked on the way of every fetch.
    private let hasSome = Atomic(false)
    /// Nil for memory alone.
    private let state: StateShelf?

    init(in state: StateShelf?) {
        self.state = state?.directory == nil ? nil : state
    }

    /// Whether a host takes secure transport only.
    func isSecure(_ host: String) -> Bool {
        refresh()
        guard hasSome.load(ordering: .relaxed) else { return false }
        let now = WallClock.time()
        return known.withLock { known in TransportSecurity.isSecure(host, at: now) { known.hosts[$0] } }
    }

    /// Takes what a response changes: it holds here at once, and elsewhere when it is committed.
    func apply(_ change: TransportSecurity.Change) {
        let number = known.withLock { known in
            known.take(change)
            hasSome.store(!known.hosts.isEmpty, ordering: .relaxed)
            known.lastChange += 1
            if state != nil { known.pending[known.lastChange] = change }
            return known.lastChange
        }
        guard let store = state?.store() else { return settled(number) }
        let now = WallClock.time()
        store.submit(.hosts) { (transaction) throws(StoreError) in
            try HostTable.make([change], at: now, in: transaction)
        } completion: { [self] result in
            if case .failure(let error) = result { state?.lost("\(error)") }
            settled(number)
        }
    }

    private func settled(_ number: UInt64) {
        known.withLock { _ = $0.pending.removeValue(forKey: number) }
    }

    /// Reads what is stored, if it changed: other programs change it too.
    private func refresh() {
        guard let store = state?.store() else { return }
        let changes = store.changes(of: .hosts)
        guard changes == nil || known.withLock({ $0.changes }) != changes else { return }
        // What cannot be read is as it was.
        guard let stored = try? store.read(.hosts, HostTable.all) else { return }
        known.withLock { known in
            known.changes = changes
            known.hosts = [:]
            for host in stored { known.hosts[host.name] = host }
            for (_, change) in known.pending.sorted(by: { $0.key < $1.key }) { known.take(change) }
            hasSome.store(!known.hosts.isEmpty, ordering: .relaxed)
        }
    }

    /// Those that are known, by name.
    var all: [KnownSecureHost] {
        refresh()
        let now = WallClock.time()
        return known.withLock { known in
            known.hosts.values.filter { $0.expires > now }.sorted { $0.name < $1.name }
        }
    }

    /// Takes hosts that were kept elsewhere.
    func add(_ others: [KnownSecureHost]) {
        for host in others { apply(.keep(host)) }
    }
}

extension SecureHosts.Known {
    /// Takes a change; when there are too many, the host that ends first makes room.
    fileprivate mutating func take(_ change: TransportSecurity.Change) {
        switch change {
        case .keep(let host):
            hosts[host.name] = host
            if hosts.count > HostTable.limit, let first = hosts.values.min(by: { $0.expires < $1.expires }) {
                hosts[first.name] = nil
            }
        case .forget(let name): hosts[name] = nil
        }
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

    /// The hosts that are known to take secure transport only, by name (RFC 6797). `http` URLs of theirs are fetched by
    /// `https`.
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
    /// The hosts of a file as curl's `--hsts` has them, beside those that are known. A file that is not there holds
    /// none.
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
        do throws(SystemError) {
            try WholeFile.write(Array(SecureHostsFile.text(of: all).utf8), to: path)
        } catch {
            throw .file(path, error.errno)
        }
    }
}
