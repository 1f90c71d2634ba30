import TrawlHTTP

/// Credentials that worked in this session, as the session store gives them back.
package struct SessionEntry: Sendable, Hashable {
    /// What they are for.
    package let space: ProtectionSpace
    /// The credentials.
    package let credentials: Credentials
    /// Where they may be sent ahead, or nil.
    package var scope: PreemptionScope?
    /// Whom the request named that they worked for; nil for nobody. Who names the same may have them too, whatever it
    /// gave.
    package let named: NamedUser?

    /// An entry of its parts.
    package init(
        space: ProtectionSpace, credentials: Credentials, scope: PreemptionScope?, named: NamedUser? = nil
    ) {
        self.named = named
        self.space = space
        self.credentials = credentials
        self.scope = scope
    }

    /// About how many bytes it takes.
    package var size: Int {
        256 + (space.realm?.count ?? 0) + credentials.size + (scope?.paths ?? []).reduce(0) { $0 + $1.count }
    }

    /// The entry to send ahead for a target: of those whose scope it is in, the one that says most about it.
    static func best(of entries: [SessionEntry], for target: TargetURI, where isUsable: (SessionEntry) -> Bool)
        -> SessionEntry?
    {
        var found: (depth: Int, entry: SessionEntry)?
        for entry in entries {
            guard let depth = entry.scope?.depth(of: target), isUsable(entry) else { continue }
            if found.map({ $0.depth < depth }) ?? true { found = (depth, entry) }
        }
        return found?.entry
    }
}
