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
        /// What the store does not have, by name: not yet, since it could not be written, or since there is none. It
        /// stands over what is read.
        var own: [String: OwnChange] = [:]
        var lastNumber: UInt64 = 0
        /// What the store said lately, by host as it was asked for.
        var looks: [String: Look] = [:]
    }

    fileprivate struct OwnChange {
        let change: TransportSecurity.Change
        let number: UInt64
        var hasFailed = false
    }

    fileprivate struct Look {
        let standing: TransportSecurity.Standing
        /// What the store said before of how often it changed.
        let changes: UInt64
        let until: MonotonicInstant
    }

    private let known = Guarded(Known())
    /// Most have none: asked on the way of every fetch.
    private let hasOwn = Atomic(false)
    /// Nil for memory alone.
    private let state: StateShelf?

    /// For so long an earlier look counts, if nothing is said to have changed: see `ChangeWords`.
    private static let lookLifetime = Duration.seconds(1)
    fileprivate static let mostLooks = 1024

    init(in state: StateShelf?) {
        self.state = state?.directory == nil ? nil : state
    }

    /// What has to be opened before something is known of a host; nil when nothing has.
    func unopened(for host: String) -> StateShelf? {
        guard let state, state.mustOpen(for: .hosts), TransportSecurity.name(of: host) != nil else { return nil }
        return state
    }

    /// Whether no host is known, as mostly; may be false although none is.
    var isEmpty: Bool {
        // In this order: what is here no more is in the store by then.
        if hasOwn.load(ordering: .acquiring) { return false }
        return state?.isBlank(.hosts) ?? true
    }

    /// Whether a host takes secure transport only.
    func isSecure(_ host: String) -> Bool {
        let standing = self.standing(of: host)
        return standing.secureUntil != nil && standing.isSecure(at: WallClock.time())
    }

    /// What is known of a host: a few rows are read, and none as long as nothing has changed.
    private func standing(of host: String) -> TransportSecurity.Standing {
        let store = state?.store()
        let changes: UInt64? = store.map { $0.changes(of: .hosts) } ?? 0
        if changes == 0, !hasOwn.load(ordering: .acquiring) { return .init() }
        guard let store, changes != 0 else {
            return known.withLock { known in TransportSecurity.standing(of: host) { known.own[$0]?.change.host } }
        }
        // Taken before the store is read: what is committed meanwhile is in one of them.
        let (own, look) = known.withLock { ($0.own, $0.looks[host]) }
        let now = MonotonicClock.coarse()
        if own.isEmpty, let look, look.changes == changes, now < look.until { return look.standing }
        do throws(StoreError) {
            var standing = TransportSecurity.Standing()
            // Nothing is opened for an address, which is never known (RFC 6797 §8.1.1).
            if TransportSecurity.name(of: host) != nil {
                let read = try store.read(.hosts) { (snapshot) throws(StoreError) -> TransportSecurity.Standing in
                    try TransportSecurity.standing(of: host) { (name) throws(StoreError) -> KnownSecureHost? in
                        if let known = own[name] { return known.change.host }
                        return try HostTable.host(named: name, snapshot)
                    }
                }
                standing = read ?? .init()
            }
            if own.isEmpty, let changes {
                let look = Look(
                    standing: standing, changes: changes, until: now.advanced(by: Self.lookLifetime))
                known.withLock { $0.keep(look, of: host) }
            }
            return standing
        } catch {
            // What cannot be read is as it was.
            return look?.standing ?? TransportSecurity.standing(of: host) { own[$0]?.change.host }
        }
    }

    /// Takes what a response changes, if anything: it holds here at once, and elsewhere when it is committed.
    func apply(_ change: TransportSecurity.Change) {
        let now = WallClock.time()
        let hasFailed = known.withLock { $0.own[change.name]?.hasFailed == true }
        if !hasFailed, TransportSecurity.changesNothing(change, to: standing(of: change.name).host, at: now) { return }
        let number = known.withLock { known in
            let number = known.take(change, isAlone: state == nil)
            hasOwn.store(!known.own.isEmpty, ordering: .releasing)
            return number
        }
        guard let state else { return }
        guard let store = state.store() else { return settled(change.name, number, isStored: false) }
        store.submit(.hosts) { (transaction) throws(StoreError) in
            try HostTable.make([change], at: now, in: transaction)
        } completion: { [self] result in
            switch result {
            case .success: settled(change.name, number, isStored: true)
            case .failure(let error):
                state.lost("\(error)")
                settled(change.name, number, isStored: false)
            }
        }
    }

    /// A change is in the store, or could not be written: then the next response that says the same tries again.
    private func settled(_ name: String, _ number: UInt64, isStored: Bool) {
        known.withLock { known in
            guard known.own[name]?.number == number else { return }
            if isStored {
                known.own[name] = nil
            } else {
                known.own[name]?.hasFailed = true
            }
            hasOwn.store(!known.own.isEmpty, ordering: .releasing)
        }
    }

    /// Those that are known, by name.
    var all: [KnownSecureHost] {
        let own = known.withLock { $0.own }
        var hosts: [String: KnownSecureHost] = [:]
        // What cannot be read is not listed.
        if let stored = try? state?.store()?.read(.hosts, HostTable.all) {
            for host in stored { hosts[host.name] = host }
        }
        for (name, own) in own { hosts[name] = own.change.host }
        let now = WallClock.time()
        return hosts.values.filter { $0.expires > now }.sorted { $0.name < $1.name }
    }

    /// Takes hosts that were kept elsewhere, in place of a store.
    func add(_ others: [KnownSecureHost]) {
        precondition(state == nil, "hosts of a file are kept beside no store")
        known.withLock { known in
            for host in others { known.own[host.name] = OwnChange(change: .keep(host), number: 0) }
            known.makeRoom(for: HostTable.limit)
            hasOwn.store(!known.own.isEmpty, ordering: .releasing)
        }
    }
}

extension SecureHosts.Known {
    /// Takes a change.
    ///
    /// - Parameter isAlone: Whether there is no store: then what is forgotten is not there.
    /// - Returns: Its number.
    fileprivate mutating func take(_ change: TransportSecurity.Change, isAlone: Bool) -> UInt64 {
        lastNumber += 1
        if isAlone, change.host == nil {
            own[change.name] = nil
        } else {
            own[change.name] = SecureHosts.OwnChange(change: change, number: lastNumber)
            // As in the store: not once more with each that comes.
            if own.count > HostTable.limit { makeRoom(for: HostTable.limit * 9 / 10) }
        }
        return lastNumber
    }

    /// When there are too many, those that end first go.
    fileprivate mutating func makeRoom(for most: Int) {
        let excess = own.count - most
        guard excess > 0 else { return }
        let ends = own.map { (name: $0.key, end: $0.value.change.host?.expires ?? WallTime(milliseconds: .min)) }
        for (name, _) in ends.sorted(by: { $0.end < $1.end }).prefix(excess) { own[name] = nil }
    }

    fileprivate mutating func keep(_ look: SecureHosts.Look, of host: String) {
        if looks.count >= SecureHosts.mostLooks { looks.removeAll() }
        looks[host] = look
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
    /// The hosts of a file as curl's `--hsts` has them, in place of a store. A file that is not there holds none.
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
