package import TrawlHTTP

extension CacheRules {
    /// The references whose stored responses an answer makes invalid, beside those of the request's own target; nil
    /// when it makes none invalid.
    ///
    /// Resolve each against the target, then ask `isInvalidated`.
    ///
    /// - Source: RFC 9111 §4.4.
    package func invalidations(_ request: CacheRequest, _ head: ResponseHead) -> [String]? {
        // Methods nobody knows may change anything. Errors change nothing, as far as one can tell. Where `Host` names
        // another authority, what has changed is not what is stored for the target (RFC 9110 §7.1).
        guard !request.method.isSafe, head.status >= 200, head.status < 400, !request.traits.contains(.otherHost) else {
            return nil
        }
        return [head.fields.reference("Location"), head.fields.reference("Content-Location")].compactMap(\.self)
    }

    /// Whether a URI an answer names may be invalidated by it: only one of the same origin.
    ///
    /// - Source: RFC 9111 §4.4.
    package func isInvalidated(_ named: TargetURI, by target: TargetURI) -> Bool {
        named.origin == target.origin
    }

    /// Whether an answer asks that all stored responses of its origin be removed.
    ///
    /// Heeded of origins that are potentially trustworthy alone: anybody on the way could ask for it otherwise. Who is
    /// asked for another authority by `Host` (RFC 9110 §7.1) does not speak for the origin of the target.
    ///
    /// - Parameter isLocal: Whether the target is this machine itself, with no proxy between.
    /// - Parameter fields: Those of the answer.
    /// - Source: W3C Clear Site Data §3, §4: a list of quoted strings; W3C Secure Contexts §3.1: `https` and loopback.
    package func clearsStoredResponses(_ request: CacheRequest, isLocal: Bool, _ fields: FieldLines) -> Bool {
        guard request.target.isHTTPS || isLocal, !request.traits.contains(.otherHost),
            fields.contains("Clear-Site-Data")
        else { return false }
        var found = false
        fields.forEach { name, value in
            guard KnownField(name) == .clearSiteData else { return }
            value.forEachMember { member in
                if member.isToken("\"cache\"") || member.isToken("\"*\"") { found = true }
            }
        }
        return found
    }
}
