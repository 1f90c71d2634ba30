package import TrawlHTTP

/// Which challenges of a response may be answered, strongest first.
package struct SchemeRules: Sendable, Hashable {
    /// The schemes that may be used.
    package var allowed = SchemeSet.any
    /// Whether a password or token may be sent as it is over a connection that is not encrypted.
    package var allowsSecretInClear = false
    /// The hashes that Digest can use, as there are functions for them.
    package var hashes: Set<DigestAlgorithm.Hash> = [.md5, .sha256]

    /// The usual rules: any scheme but NTLM, no secret in clear.
    package init() {}

    /// Whether a scheme may be used with a server or proxy.
    package func allows(_ scheme: AuthenticationScheme, with origin: Origin) -> Bool {
        allowed.allows(scheme) && (!scheme.sendsSecret || origin.scheme == "https" || allowsSecretInClear)
    }

    /// The challenges that can be answered, strongest first; equally strong ones as the server has them.
    ///
    /// The order is Negotiate, Digest by its hash, NTLM, Bearer, Basic: what reveals less comes first. A challenge that
    /// cannot be read, wants what is not there, or is not allowed is left out.
    ///
    /// - Source: RFC 9110 §11.4 (the client chooses), RFC 7616 §3.7 (Digest before Basic).
    package func candidates(
        _ challenges: ChallengeList, from side: AuthenticationSide, of origin: Origin
    ) -> [ChallengeCandidate] {
        var ranked: [(strength: Int, candidate: ChallengeCandidate)] = []
        for challenge in challenges.challenges {
            guard let scheme = challenge.scheme, allows(scheme, with: origin) else { continue }
            let digest = scheme == .digest ? DigestChallenge(challenge) : nil
            if scheme == .digest, digest.map({ hashes.contains($0.algorithm.hash) }) != true { continue }
            // Their realm is not sent; one that is there all the same says nothing (RFC 4559 §4.1).
            let realm = scheme == .ntlm || scheme == .negotiate ? nil : challenge.realm
            let space = ProtectionSpace(side: side, origin: origin, scheme: scheme, realm: realm)
            ranked.append(
                (
                    strength(scheme, digest),
                    ChallengeCandidate(challenge: challenge, scheme: scheme, space: space, digest: digest)
                ))
        }
        // The sort of the standard library keeps the order of equals, but does not promise it.
        return ranked.enumerated()
            .sorted { ($1.element.strength, $0.offset) < ($0.element.strength, $1.offset) }
            .map(\.element.candidate)
    }

    private func strength(_ scheme: AuthenticationScheme, _ digest: DigestChallenge?) -> Int {
        switch scheme {
        case .negotiate: 60
        case .digest:
            switch digest?.algorithm.hash {
            case .sha512Slash256: 52
            case .sha256: 51
            case .md5, nil: 50
            }
        case .ntlm: 40
        case .bearer: 30
        case .basic: 20
        }
    }
}
