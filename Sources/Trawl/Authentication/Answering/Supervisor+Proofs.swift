import TrawlCrypto
import TrawlHTTP
import TrawlPlatform
import TrawlProtocol
import TrawlSession
import TrawlSupervision

/// What a hop says of whom it is made as, in the form it is sent in.
extension Supervisor {
    /// Makes a proposal what the hop says.
    func say(
        _ proposal: CredentialSearch.Proposal?, _ side: AuthenticationSide, _ authentication: FetchAuthentication
    ) -> Result<Void, CredentialsFault> {
        authentication[side]?.clear()
        authentication[side]?.proposal = proposal
        guard let proposal else { return .success(()) }
        do throws(CredentialsFault) {
            switch proposal.scheme {
            case .basic: authentication[side]?.value = try BasicScheme.fieldValue(proposal.credentials)
            case .bearer: authentication[side]?.value = try BearerScheme.fieldValue(proposal.credentials)
            // Made anew for each lease: no count of a nonce is sent twice.
            case .digest: authentication[side]?.identity = Self.identity(of: proposal)
            // Said by libcurl, on a connection of its own.
            case .ntlm, .negotiate: authentication[side]?.identity = Self.identity(of: proposal)
            }
            return .success(())
        } catch {
            return .failure(error)
        }
    }

    /// What stands for user, password and realm in the cache, where only a keyed digest of it is kept.
    private static func identity(of proposal: CredentialSearch.Proposal) -> [UInt8]? {
        let (user, password): (String, Secret)
        switch proposal.credentials.kind {
        case .password(let name, let secret, let domain): (user, password) = (domain + "\\" + name, secret)
        case .ticket: (user, password) = ("", Secret(""))
        case .bearer: return nil
        }
        var text = Array(proposal.scheme.name.utf8)
        for part in [Array(user.utf8), proposal.space?.realm ?? [], Array(password.revealed.utf8)] {
            text += [0] + part
        }
        return text.withUnsafeBytes { MessageHash.sha256($0) }
    }

    /// Makes the field that differs for each lease.
    mutating func prove(_ fetch: RunningFetch, _ fields: inout FieldLines) throws(CredentialsFault) {
        guard let proposal = fetch.engine.authentication?.server?.proposal, proposal.scheme == .digest else { return }
        let request = DigestRequest(
            method: fetch.engine.method, target: Self.requestTarget(fetch.engine.target),
            bodyHash: bodyHash(of: fetch, proposal))
        if let value = try proof(of: request, .server, fetch) { fields.setCredentials(value) }
    }

    /// The field value that proves a request by Digest; nil when it has to be asked for first.
    mutating func proof(
        of request: DigestRequest, _ side: AuthenticationSide, _ fetch: RunningFetch
    ) throws(CredentialsFault) -> [UInt8]? {
        guard let authentication = fetch.engine.authentication, let proposal = authentication[side]?.proposal else {
            return nil
        }
        do throws(CredentialsFault) {
            let proof = try credentials.prove(request, by: proposal)
            authentication[side]?.proof = proof
            return proof.fieldValue
        } catch {
            guard proposal.isAhead else { throw error }
            _ = say(nil, side, authentication)
            return nil
        }
    }

    /// RFC 9112 §3.2.1: path and query, as the worker sends them.
    private static func requestTarget(_ target: TargetURI) -> [UInt8] {
        target.withPathAndQuery { path, query in
            guard let query else { return Array(path) }
            return Array(path) + [UInt8(ascii: "?")] + query
        }
    }

    /// RFC 7616 §3.4.3: only where the server insists on a digest of the body.
    func bodyHash(of fetch: RunningFetch, _ proposal: CredentialSearch.Proposal) -> [UInt8]? {
        guard let (hash, function) = bodyHashing(proposal) else { return nil }
        let body = fetch.body
        func digest() -> [UInt8]? {
            switch body {
            case .none: return function(UnsafeRawBufferPointer(start: nil, count: 0))
            case .inline(let bytes): return bytes.withUnsafeBytes(function)
            case .file(let body):
                guard let mapped = try? MappedBytes(body.file.descriptor, limit: .max) else { return nil }
                return mapped.withUnsafeBytes(function)
            }
        }
        guard let authentication = fetch.engine.authentication else { return digest() }
        return authentication.bodyDigests.digest(of: body, by: hash, digest)
    }

    /// The same of no body, as CONNECT has none.
    func emptyBodyHash(_ proposal: CredentialSearch.Proposal) -> [UInt8]? {
        bodyHashing(proposal)?.function(UnsafeRawBufferPointer(start: nil, count: 0))
    }

    /// By what the body is hashed; nil where it is not protected.
    private func bodyHashing(
        _ proposal: CredentialSearch.Proposal
    ) -> (hash: DigestAlgorithm.Hash, function: DigestHashes.Function)? {
        guard let challenge = credentials.challenge(of: proposal), challenge.protections == [.integrity],
            let function = DigestHashes.libcrypto.function(challenge.algorithm.hash)
        else { return nil }
        return (challenge.algorithm.hash, function)
    }

    /// Who the connection of a hop is opened as towards its server; nil for nobody.
    func login(of fetch: RunningFetch) -> ConnectionLogin? {
        (fetch.engine.authentication?.server?.proposal).flatMap(Self.login)
    }

    /// Who a connection is opened as; nil for schemes that prove each request.
    static func login(by proposal: CredentialSearch.Proposal) -> ConnectionLogin? {
        let scheme: ConnectionLogin.Scheme
        switch proposal.scheme {
        case .ntlm: scheme = .ntlm
        case .negotiate: scheme = .negotiate
        case .basic, .bearer, .digest: return nil
        }
        switch proposal.credentials.kind {
        case .password(let user, let password, let domain):
            return ConnectionLogin(
                scheme, user: domain.isEmpty ? user : domain + "\\" + user, password: password.revealed)
        case .ticket: return ConnectionLogin(scheme, user: "", password: "")
        case .bearer: return nil
        }
    }
}
