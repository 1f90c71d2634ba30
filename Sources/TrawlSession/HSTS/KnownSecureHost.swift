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

        /// The name of the host.
        package var name: String {
            switch self {
            case .keep(let host): host.name
            case .forget(let name): name
            }
        }

        /// The host as it is known from now on; nil when it is not.
        package var host: KnownSecureHost? {
            if case .keep(let host) = self { host } else { nil }
        }
    }

    /// The name a host is known by; nil when it cannot be: an address never is (RFC 6797 §8.1.1).
    package static func name(of host: String) -> String? {
        var name = host.utf8.last == UInt8(ascii: ".") ? String(host.dropLast()) : host
        name = name.lowercased()
        let isAddress = name.withUTF8 { CookieTarget.isAddress(UnsafeRawBufferPointer($0)) }
        return name.isEmpty || isAddress ? nil : name
    }

    /// What the fields of a response from a target change, or nil. Any status counts, 304 too (RFC 6797 §8.1).
    ///
    /// - Parameter isVerified: Whether it came over TLS whose certificate was checked without finding anything: else
    ///   the field is to be ignored (RFC 6797 §8.1).
    package static func change(
        by fields: FieldLines, from target: TargetURI, isVerified: Bool, at now: WallTime
    ) -> Change? {
        guard isVerified, target.isHTTPS, let name = name(of: target.host),
            let policy = TransportSecurityPolicy(fields)
        else { return nil }
        // RFC 6797 §6.1.1: zero ends it.
        if policy.maxAge == 0 { return .forget(name) }
        let lifetime = policy.maxAge.multipliedClamping(by: 1000)
        return .keep(
            KnownSecureHost(
                name: name, expires: now.advanced(byMilliseconds: lifetime),
                includesSubdomains: policy.includesSubdomains))
    }

    /// Whether a change is none that counts: a host that is to be forgotten is not known, or one that is to be kept is
    /// known with the same flag and nearly the same end.
    ///
    /// Ends are the same when they are less than 1 % of the new lifetime apart, and less than a day. Most servers send
    /// the same policy with each response, and let its time begin anew (RFC 6797 §8.1).
    ///
    /// - Parameter known: What is known of the host of the change's name.
    package static func changesNothing(_ change: Change, to known: KnownSecureHost?, at now: WallTime) -> Bool {
        guard let host = change.host else { return known == nil }
        guard let known, known.expires > now, known.includesSubdomains == host.includesSubdomains else { return false }
        let grain = min(max(0, host.expires.milliseconds(since: now)) / 100, 86_400_000)
        return host.expires.milliseconds(since: known.expires).magnitude < UInt64(grain)
    }

    /// What is known of a host and of those above it.
    package struct Standing: Sendable, Hashable {
        /// The host of that very name, if it is known.
        package var host: KnownSecureHost?
        /// When it no longer takes secure transport only; nil when it never did.
        package var secureUntil: WallTime?

        /// Nothing is known.
        package init() {}

        /// Whether the host takes secure transport only.
        package func isSecure(at now: WallTime) -> Bool { secureUntil.map { now < $0 } ?? false }
    }

    /// How a host stands.
    ///
    /// - Parameter known: The host of that name, if it is known.
    /// - Source: RFC 6797 §8.2: the host itself, or one above it that includes those below. Every one of them is looked
    ///   at, since one that does not include them says nothing against one that does.
    package static func standing<Failure: Error>(
        of host: String, known: (String) throws(Failure) -> KnownSecureHost?
    ) throws(Failure) -> Standing {
        var standing = Standing()
        guard let name = name(of: host) else { return standing }
        var rest = name[...]
        while !rest.isEmpty {
            let isItself = rest.count == name.count
            if let found = try known(String(rest)) {
                if isItself { standing.host = found }
                if isItself || found.includesSubdomains {
                    standing.secureUntil = max(standing.secureUntil ?? found.expires, found.expires)
                }
            }
            guard let dot = rest.firstIndex(of: ".") else { break }
            rest = rest[rest.index(after: dot)...]
        }
        return standing
    }

    /// The reference that leads from an `http` target to the same by `https`.
    ///
    /// - Source: RFC 6797 §8.3: port 80 becomes 443, any other port stays.
    package static func upgrade(_ target: TargetURI) -> String? {
        guard target.scheme == "http" else { return nil }
        let text = target.textWithFragment
        // `http://` is in normal form; an explicit port 80 never is.
        return "https" + text.dropFirst(4)
    }

    /// The origin that an `http` URL has when it is fetched by `https`.
    ///
    /// - Source: RFC 6797 §8.3.
    package static func upgrade(_ origin: Origin) -> Origin {
        guard origin.scheme == "http" else { return origin }
        return Origin(scheme: "https", host: origin.host, port: origin.port == 80 ? 443 : origin.port)
    }
}
