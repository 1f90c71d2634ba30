package import TrawlHTTP

/// One user's exchange with one protection space: from a challenge on, through as many requests as its nonces last.
///
/// It holds the hash of user, realm and password, never the password, and prints neither. The random nonce of ours is
/// given from outside and is the same for all requests of the session, as the session key needs it to be.
///
/// - Source: RFC 7616 §3.4.
package struct DigestSession: Sendable {
    /// The challenge that began it.
    package let challenge: DigestChallenge
    /// Nonces before the one in use whose counts are remembered.
    private static let mostEarlier = 8

    /// The counts of the nonce that is used now.
    private var counter: NonceCounter
    /// Those of nonces before it, the latest last: a server may come back to one.
    private var earlier: [NonceCounter] = []
    private let clientNonce: [UInt8]
    /// H(A1), in hexadecimal.
    private let key: Secret
    private let userField: [UInt8]
    private let hashes: DigestHashes

    /// Begins a session.
    ///
    /// - Parameter random: Two numbers nobody can guess, new for each session.
    package init(
        _ challenge: DigestChallenge, _ credentials: Credentials, random: (UInt64, UInt64), hashes: DigestHashes
    ) throws(CredentialsFault) {
        let clientNonce = Hexadecimal.text(random.0) + Hexadecimal.text(random.1)
        try self.init(challenge, credentials, clientNonce: clientNonce, hashes: hashes)
    }

    init(
        _ challenge: DigestChallenge, _ credentials: Credentials, clientNonce: [UInt8], after count: UInt32 = 0,
        hashes: DigestHashes
    ) throws(CredentialsFault) {
        guard case .password(let name, let password, _) = credentials.kind else { throw .kind }
        let (user, secret) = (Array(name.utf8), Array(password.revealed.utf8))
        if user.contains(where: \.isControl) || secret.contains(where: \.isControl) { throw .controlCharacter }
        self.challenge = challenge
        self.hashes = hashes
        counter = NonceCounter(nonce: challenge.nonce, after: count)
        self.clientNonce = clientNonce
        let hash = challenge.algorithm.hash
        // RFC 7616 §3.4.2: A1. Text is UTF-8 whether or not the challenge says so: nothing else is meant today. It is
        // not brought into NFC where that says so (§4), as with Basic.
        var key = try hashes.hexadecimal(hash, of: Self.joined([user, challenge.realm, secret]))
        if challenge.algorithm.isSession {
            key = try hashes.hexadecimal(hash, of: Self.joined([key, challenge.nonce, clientNonce]))
        }
        self.key = Secret(String(decoding: key, as: UTF8.self))
        userField = try Self.userField(user, challenge, hashes)
    }

    /// About how many bytes it takes.
    package var size: Int {
        1024 + challenge.realm.count + challenge.nonce.count + (challenge.opaque?.count ?? 0) + challenge.domain.count
            + userField.count + earlier.reduce(nonce.count) { $0 + $1.nonce.count }
    }

    /// The nonce that is used now.
    package var nonce: [UInt8] { counter.nonce }

    /// Goes on with the nonce of a challenge when its counts are kept here.
    ///
    /// - Returns: Whether it does. Not with a nonce of before that is another than the session key's (RFC 7616 §3.4.2).
    package mutating func resume(_ nonce: [UInt8]) -> Bool {
        if nonce == self.nonce { return true }
        guard earlier.contains(where: { $0.nonce == nonce }), !challenge.algorithm.isSession || nonce == challenge.nonce
        else { return false }
        turn(to: nonce)
        return true
    }

    /// Proves a request with the next count of the nonce.
    package mutating func prove(_ request: DigestRequest) throws(CredentialsFault) -> DigestProof {
        guard let protection = challenge.protection(canHashBody: request.bodyHash != nil) else { throw .bodyDigest }
        // Last, since a count that is not sent leaves a gap.
        guard let count = counter.next() else { throw .nonceUsedUp }
        let response = try response(
            nonce: nonce, count: count, protection: protection,
            over: [Array(request.method.name.utf8), request.target], bodyHash: request.bodyHash)
        var value = FieldWriter("Digest ")
        value.append(userField)
        value.append(quoted: "realm", challenge.realm)
        value.append(quoted: "uri", request.target)
        // RFC 7616 §3.4: algorithm, qop and nc are not quoted, all others are.
        if let spelling = challenge.spelling { value.append("algorithm", spelling) }
        value.append(quoted: "nonce", nonce)
        if protection != .legacy {
            value.append("nc", Hexadecimal.text(count))
            value.append(quoted: "cnonce", clientNonce)
            value.append("qop", Array((protection == .integrity ? "auth-int" : "auth").utf8))
        }
        value.append(quoted: "response", response)
        if let opaque = challenge.opaque { value.append(quoted: "opaque", opaque) }
        if challenge.wantsUserHash { value.append("userhash", Array("true".utf8)) }
        return DigestProof(
            fieldValue: value.bytes, nonce: nonce, count: count, protection: protection, target: request.target)
    }

    /// RFC 7616 §3.4.1: the response over method and target, or over what stands in their place.
    private func response(
        nonce: [UInt8], count: UInt32, protection: DigestChallenge.Protection, over parts: [[UInt8]],
        bodyHash: [UInt8]?
    ) throws(CredentialsFault) -> [UInt8] {
        let hash = challenge.algorithm.hash
        var parts = parts
        if protection == .integrity {
            // RFC 7616 §3.4.3
            guard let bodyHash else { throw .bodyDigest }
            parts.append(Hexadecimal.text(bodyHash))
        }
        let second = try hashes.hexadecimal(hash, of: Self.joined(parts))
        let key = Array(key.revealed.utf8)
        let data: [[UInt8]] =
            switch protection {
            case .legacy: [key, nonce, second]
            case .authentication: [key, nonce, Hexadecimal.text(count), clientNonce, Array("auth".utf8), second]
            case .integrity: [key, nonce, Hexadecimal.text(count), clientNonce, Array("auth-int".utf8), second]
            }
        return try hashes.hexadecimal(hash, of: Self.joined(data))
    }

    private static func joined(_ parts: [[UInt8]]) -> [UInt8] { Array(parts.joined(separator: [.colon])) }

    /// The user's name as a parameter.
    private static func userField(
        _ user: [UInt8], _ challenge: DigestChallenge, _ hashes: DigestHashes
    ) throws(CredentialsFault) -> [UInt8] {
        var field = FieldWriter("")
        if challenge.wantsUserHash {
            // RFC 7616 §3.4.4
            let hash = try hashes.hexadecimal(challenge.algorithm.hash, of: joined([user, challenge.realm]))
            field.append(quoted: "username", hash)
        } else if challenge.isUTF8, user.contains(where: { $0 >= 0x80 }) {
            // RFC 7616 §3.4, the form of RFC 8187. Servers that do not speak of UTF-8 do not know it; they get the
            // bytes.
            field.append("username*", Array("UTF-8''".utf8) + ExtendedValue.percentEncoded(user))
        } else {
            field.append(quoted: "username", user)
        }
        return field.bytes
    }
}

extension DigestSession {
    /// What the server says of itself when it has accepted a request.
    package enum Verdict: Sendable, Hashable {
        /// It proved that it knows the password.
        case proved
        /// It did not say.
        case silent
        /// What it said is wrong: it may not know the password, or somebody changed the message.
        case wrong
        /// It protects the body, whose hash was not given.
        case needsBodyHash
    }

    /// Takes what the server says in `Authentication-Info` of the response to a proved request: checks its proof, and
    /// goes on with the nonce it gives for the next requests.
    ///
    /// - Parameter bodyHash: The hash of the response's body; nil when it is not known.
    /// - Source: RFC 7616 §3.5.
    package mutating func finish(
        _ proof: DigestProof, _ fields: FieldLines, from side: AuthenticationSide, bodyHash: [UInt8]? = nil
    ) -> Verdict {
        let parameters = ChallengeParser.parameters(of: side.infoField, in: fields)
        func value(_ name: String) -> [UInt8]? { parameters.first { $0.name == name }?.value }
        let verdict = verdict(on: proof, value, bodyHash: bodyHash)
        // A nonce of somebody who is not the server is not used.
        if verdict != .wrong, let next = value("nextnonce"), !next.isEmpty, next != nonce { turn(to: next) }
        return verdict
    }

    /// Goes on with another nonce. RFC 7616 §3.4: `nc` counts all requests with a nonce, also when it comes again.
    private mutating func turn(to nonce: [UInt8]) {
        let place = earlier.firstIndex { $0.nonce == nonce }
        let next = place.map { earlier[$0] } ?? NonceCounter(nonce: nonce)
        if let place { earlier.remove(at: place) }
        earlier.append(counter)
        if earlier.count > Self.mostEarlier { earlier.removeFirst() }
        counter = next
    }

    private func verdict(
        on proof: DigestProof, _ value: (String) -> [UInt8]?, bodyHash: [UInt8]?
    ) -> Verdict {
        guard let response = value("rspauth") else { return .silent }
        var protection = proof.protection
        if protection != .legacy {
            // RFC 7616 §3.5: count and nonce of ours must be those of the request.
            if let nonce = value("cnonce"), nonce != clientNonce { return .wrong }
            if let count = value("nc"), Hexadecimal.number(count) != proof.count { return .wrong }
            switch value("qop").map({ String(decoding: $0, as: UTF8.self).lowercased() }) {
            case nil: break
            case "auth": protection = .authentication
            case "auth-int": protection = .integrity
            default: return .wrong
            }
        }
        if protection == .integrity, bodyHash == nil { return .needsBodyHash }
        // RFC 7616 §3.5: A2 has no method.
        let expected = try? self.response(
            nonce: proof.nonce, count: proof.count, protection: protection, over: [[], proof.target],
            bodyHash: bodyHash)
        return expected == response.map({ $0 &- 0x41 < 26 ? $0 | 0x20 : $0 }) ? .proved : .wrong
    }
}

extension DigestSession: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// What it is, nothing of what it holds.
    package var description: String { "digest session (\(challenge.algorithm.hash.name))" }
    /// What it is, nothing of what it holds.
    package var debugDescription: String { description }
    /// A mirror that shows nothing.
    package var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}
