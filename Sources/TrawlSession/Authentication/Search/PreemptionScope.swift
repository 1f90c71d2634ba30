package import TrawlHTTP

/// Where credentials that worked may be sent before anybody asks for them.
///
/// Never beyond the origin or proxy they belong to. Within it: beneath the directory of a request they worked for
/// (Basic, RFC 7617 §2.2; Bearer the same), or where `domain` says (Digest, RFC 7616 §3.3). NTLM and Negotiate prove a
/// connection and send nothing ahead.
package struct PreemptionScope: Sendable, Hashable {
    /// Paths that are kept of one scope. A site with more of them is asked again now and then.
    static let mostPaths = 32

    /// The server or proxy.
    package let side: AuthenticationSide
    /// Its origin.
    package let origin: Origin
    /// Beginnings of paths; nil for all of the origin.
    package private(set) var paths: [[UInt8]]?

    /// The scope of credentials that worked for a request, or nil when there is none.
    package init?(_ space: ProtectionSpace, for target: TargetURI, digest: DigestChallenge?) {
        side = space.side
        origin = space.origin
        switch space.scheme {
        case .ntlm, .negotiate: return nil
        case .digest:
            // RFC 7616 §3.3: the list says nothing about a proxy, where all requests need the same.
            paths = side == .proxy ? nil : DigestDomain.paths(digest?.domain ?? [], at: origin)
        case .basic, .bearer:
            guard side == .server else {
                paths = nil
                return
            }
            guard target.origin == origin else { return nil }
            paths = [Self.directory(of: target)]
        }
    }

    /// The scope of these parts, as it was kept.
    package init(side: AuthenticationSide, origin: Origin, paths: [[UInt8]]?) {
        self.side = side
        self.origin = origin
        self.paths = paths
    }

    /// How many bytes of the target's path say that it is within the scope; nil when it is not.
    ///
    /// Of several scopes that with most bytes is the one meant.
    package func depth(of target: TargetURI) -> Int? {
        if side == .server, target.origin != origin { return nil }
        guard let paths else { return 0 }
        return target.withPathAndQuery { path, _ -> Int? in
            var depth: Int?
            for start in paths where start.count > depth ?? -1 && path.starts(with: start) { depth = start.count }
            return depth
        }
    }

    /// Makes it reach as far as another scope of the same place does.
    package mutating func widen(to other: PreemptionScope) {
        guard other.side == side, other.origin == origin, let known = paths else { return }
        guard let others = other.paths else {
            paths = nil
            return
        }
        var result = known
        for path in others where !result.contains(where: { path.starts(with: $0) }) {
            result.removeAll { $0.starts(with: path) }
            result.append(path)
        }
        paths = Array(result.suffix(Self.mostPaths))
    }

    /// RFC 7617 §2.2: all up to the last slash of the path.
    private static func directory(of target: TargetURI) -> [UInt8] {
        target.withPathAndQuery { path, _ in
            let slash = UInt8(ascii: "/")
            guard let last = path.lastIndex(of: slash) else { return [slash] }
            return Array(path[...last])
        }
    }
}
