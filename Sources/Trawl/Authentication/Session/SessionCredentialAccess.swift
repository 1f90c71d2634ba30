import TrawlHTTP
import TrawlSession

/// The credentials of a coordinator's session: what worked, and what a program put there.
///
/// They are in this process's memory alone, and end with the coordinator.
public struct SessionCredentialAccess: Sendable {
    /// What is kept, without its secret.
    public struct Item: Sendable, Hashable {
        /// What it is for.
        public let space: VaultItem
        /// The scheme that protects it, as in `Digest`.
        public let scheme: String
        /// The user; nil for a token.
        public let user: String?
    }

    let coordinator: Coordinator

    /// What is kept, in no particular order.
    public func list() async -> [Item] {
        let items = await ask { credentials in
            credentials.all.map { entry in
                Item(
                    space: VaultItem(entry.space), scheme: entry.space.scheme.name, user: entry.credentials.user)
            }
        }
        return items ?? []
    }

    /// Keeps credentials as if they had worked: they are used when the server asks for that scheme and realm.
    ///
    /// - Parameter scheme: `Basic`, `Digest` or `Bearer`.
    /// - Throws: ``FetchError/Code/badRequest`` when the scheme is unknown, or the port is none.
    public func set(_ credential: Credential, for space: VaultItem, scheme: String) async throws(FetchError) {
        guard let space = ProtectionSpace(space, scheme: scheme) else {
            throw FetchError(.badRequest, "no such scheme, or no such port")
        }
        let entry = SessionEntry(space: space, credentials: credential.credentials, scope: nil)
        await ask { $0.keep(entry) }
    }

    /// Forgets the credentials of a space, whatever their scheme.
    ///
    /// - Returns: Whether there were any.
    @discardableResult
    public func remove(_ space: VaultItem) async -> Bool {
        let spaces = AuthenticationScheme.allCases.compactMap { ProtectionSpace(space, scheme: $0.name) }
        let isFound = await ask { credentials in
            var isFound = false
            for space in spaces where credentials.remove(space) { isFound = true }
            return isFound
        }
        return isFound ?? false
    }

    /// Forgets all.
    public func removeAll() async {
        await ask { $0.removeAll() }
    }

    /// A number for each time at which what is kept was seen changed, by a fetch or by hand; it rises. Who is slow gets
    /// the latest. The sequence ends with the coordinator.
    ///
    /// - Source: the URL Loading System's `NSURLCredentialStorageChangedNotification` (ULS-AUTH-03).
    public var changes: AsyncStream<UInt64> { coordinator.credentialState.changes }

    /// Nil when the coordinator is shut down.
    @discardableResult
    private func ask<Value: Sendable>(
        _ question: @escaping @Sendable (inout SessionCredentials) -> Value
    ) async -> Value? {
        await withCheckedContinuation { continuation in
            let request = CredentialRequest {
                continuation.resume(returning: question(&$0))
            } refuse: {
                continuation.resume(returning: nil)
            }
            if !coordinator.post(.credentials(request)) { request.refuse() }
        }
    }
}

/// Something to be done with the session's credentials where they are.
struct CredentialRequest: Sendable {
    /// Called once, on the supervisor thread; or `refuse` is.
    let perform: @Sendable (inout SessionCredentials) -> Void
    let refuse: @Sendable () -> Void
}

extension Coordinator {
    /// The credentials of this session.
    public var credentials: SessionCredentialAccess { SessionCredentialAccess(coordinator: self) }
}

extension ProtectionSpace {
    fileprivate init?(_ item: VaultItem, scheme: String) {
        guard let scheme = AuthenticationScheme(name: scheme), let port = UInt16(exactly: item.port), port > 0 else {
            return nil
        }
        self.init(
            side: item.isProxy ? .proxy : .server,
            origin: Origin(scheme: item.scheme.lowercased(), host: item.host.lowercased(), port: port), scheme: scheme,
            realm: item.realm.map { Array($0.utf8) })
    }
}
