package import TrawlHTTP

/// A host that has asked for secure transport only.
///
/// - Source: RFC 6797 §8.1.
package struct KnownSecureHost: Sendable, Hashable {
    /// Its name, lower case and in ASCII form, without a final dot.
    package var name: String
    /// When it is forgotten.
    package var expires: WallTime
    /// Whether the hosts below are meant too.
    package var includesSubdomains: Bool

    /// A host of its parts.
    package init(name: String, expires: WallTime, includesSubdomains: Bool) {
        self.name = name
        self.expires = expires
        self.includesSubdomains = includesSubdomains
    }
}

/// The rules of HTTP Strict Transport Security.
///
/// Decisions alone: who keeps the hosts gives them.
///
/// - Source: RFC 6797.
package enum TransportSecurity {
    /// What a response changes.
    package enum Change: Sendable, Hashable {
        /// The host is known from now on, as this says.
        case keep(KnownSecureHost)
        /// The host of that name is forgotten.
        case forget(String)
    }

    /// The name a host is known by; nil when it cannot be: an address never is (RFC 6797 §8.1.1).
    package static func name(of host: String) -> String? {
        var name = host.utf8.last == UInt8(ascii: ".") ? String(host.dropLast()) : host
        name = name.lowercased()
        let isAddress = name.withUTF8 { CookieTarget.isAddress(UnsafeRawBufferPointer($0)) }
        return name.isEmpty || isAddress ? nil : name
    }

    /// What a response from a target changes, or nil.
    ///
    /// - Parameter isVerified: Whether it came over TLS whose certificate was checked without finding anything: else
    ///   the field is to be ignored (RFC 6797 §8.1).
    package static func change(
        by head: ResponseHead, from target: TargetURI, isVerified: Bool, at now: WallTime
    ) -> Change? {
        guard isVerified, target.origin.scheme == "https", let name = name(of: target.origin.host),
            let policy = TransportSecurityPolicy(head.fields)
        else { return nil }
        // RFC 6797 §6.1.1: zero ends it.
        if policy.maxAge == 0 { return .forget(name) }
        let lifetime = policy.maxAge.multipliedClamping(by: 1000)
        return .keep(
            KnownSecureHost(
                name: name, expires: now.advanced(byMilliseconds: lifetime),
                includesSubdomains: policy.includesSubdomains))
    }

    /// Whether a host takes secure transport only.
    ///
    /// - Parameter known: The host of that name, if it is known.
    /// - Source: RFC 6797 §8.2: the host itself, or one above it that includes those below. Every one of them is looked
    ///   at, since one that does not include them says nothing against one that does.
    package static func isSecure(
        _ host: String, at now: WallTime, known: (String) -> KnownSecureHost?
    ) -> Bool {
        guard let name = name(of: host) else { return false }
        var rest = name[...]
        while !rest.isEmpty {
            if let host = known(String(rest)), host.expires > now, host.includesSubdomains || rest.count == name.count {
                return true
            }
            guard let dot = rest.firstIndex(of: ".") else { return false }
            rest = rest[rest.index(after: dot)...]
        }
        return false
    }

    /// The reference that leads from an `http` target to the same by `https`.
    ///
    /// - Source: RFC 6797 §8.3: port 80 becomes 443, any other port stays.
    package static func upgrade(_ target: TargetURI) -> String? {
        guard target.origin.scheme == "http" else { return nil }
        let text = target.textWithFragment
        // `http://` is in normal form; an explicit port 80 never is.
        return "https" + text.dropFirst(4)
    }
}
