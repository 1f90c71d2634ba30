import TrawlHTTP

/// A challenge of Digest, read and checked.
///
/// - Source: RFC 7616 §3.3.
package struct DigestChallenge: Sendable, Hashable {
    /// What a response protects.
    package enum Protection: UInt8, Sendable, Hashable {
        /// Nothing but method and target, in the way of RFC 2069: no count, no nonce of ours.
        case legacy = 0
        /// Method and target (`auth`).
        case authentication = 1
        /// The body too (`auth-int`).
        case integrity = 2
    }

    /// The realm, unquoted.
    package let realm: [UInt8]
    /// The server's nonce.
    package let nonce: [UInt8]
    /// What is to be sent back as it is, or nil.
    package let opaque: [UInt8]?
    /// The algorithm; MD5 when the challenge names none.
    package let algorithm: DigestAlgorithm
    /// The algorithm's name as the server spells it, or nil when it names none.
    let spelling: [UInt8]?
    /// The protections the server takes.
    package let protections: Set<Protection>
    /// Whether only the nonce was too old: user and password are right.
    package let isStale: Bool
    /// Whether the user's name is to be sent as its hash.
    package let wantsUserHash: Bool
    /// Whether the server says that it takes UTF-8.
    package let isUTF8: Bool
    /// What the nonce is good for besides the target, in the server's words; empty for all of the server.
    package let domain: [UInt8]

    /// What a challenge says, or nil when it cannot be answered: no nonce, an algorithm or protection nobody here
    /// knows.
    package init?(_ challenge: Challenge) {
        guard challenge.scheme == .digest, let nonce = challenge.value("nonce") else { return nil }
        self.nonce = nonce
        // The realm is required; a server that leaves it out computes with an empty one.
        realm = challenge.realm ?? []
        opaque = challenge.value("opaque")
        spelling = challenge.value("algorithm")
        guard let algorithm = spelling.map(DigestAlgorithm.init(name:)) ?? DigestAlgorithm(.md5) else { return nil }
        self.algorithm = algorithm
        let protections = Self.protections(challenge.value("qop") ?? [])
        guard !protections.isEmpty else { return nil }
        // RFC 7616 §3.4.2: the session key is made with a nonce of ours, which the old form has no place for.
        if algorithm.isSession, protections == [.legacy] { return nil }
        self.protections = protections
        isStale = Self.holds("true", challenge.value("stale"))
        wantsUserHash = Self.holds("true", challenge.value("userhash"))
        isUTF8 = Self.holds("UTF-8", challenge.value("charset"))
        domain = challenge.value("domain") ?? []
    }

    /// The protection to answer with, or nil when the server insists on one of the body and that cannot be had.
    ///
    /// `auth` is preferred: a body may come from a stream that can be read only once.
    package func protection(canHashBody: Bool) -> Protection? {
        if protections.contains(.authentication) { return .authentication }
        if protections.contains(.legacy) { return .legacy }
        return canHashBody ? .integrity : nil
    }

    /// RFC 7616 §3.3: a quoted list, of which unknown values are ignored. Without any it is the form of RFC 2069.
    private static func protections(_ list: [UInt8]) -> Set<Protection> {
        let separators: Set<UInt8> = [.comma, UInt8(ascii: " "), UInt8(ascii: "\t")]
        let values = list.split { separators.contains($0) }.map { Array($0) }
        if values.isEmpty { return [.legacy] }
        var found: Set<Protection> = []
        for value in values {
            if holds("auth", value) { found.insert(.authentication) }
            if holds("auth-int", value) { found.insert(.integrity) }
        }
        return found
    }

    private static func holds(_ word: String, _ value: [UInt8]?) -> Bool {
        value.map { $0.withUnsafeBytes { FieldSyntax.equalIgnoringCase($0, word) } } ?? false
    }
}
