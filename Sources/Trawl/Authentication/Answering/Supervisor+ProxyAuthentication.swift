import TrawlHTTP
import TrawlProtocol
import TrawlSession

/// What a proxy is told about us.
struct SaidToProxy {
    /// The field's value; nil for schemes that prove the connection.
    let value: [UInt8]?
    /// Who the connection is opened as.
    let login: ConnectionLogin?
    /// Whom it takes us for. A proof of Digest is another one each time, and its connections are one user's all the
    /// same.
    let who: Credentials.Kind
}

/// Who a fetch is made as towards its proxy: settled when a hop is leased, since only then it is known which proxy that
/// is.
extension Supervisor {
    /// The HTTP proxy of a hop; nil for none, and for one of SOCKS, which challenges nobody.
    func proxyOrigin(_ fetch: RunningFetch) -> Origin? {
        guard let proxy = fetch.engine.way?.proxy, proxy.kind.speaksHTTP else { return nil }
        return proxy.origin
    }

    /// Whether a hop's HTTP proxy is asked for a tunnel, so that all that comes after its answer is the server's.
    func isTunnelled(_ fetch: RunningFetch) -> Bool {
        guard let way = fetch.engine.way, way.proxy?.kind.speaksHTTP == true else { return false }
        return way.terms.tunnelsAll || fetch.engine.target.isHTTPS || route(of: fetch) != nil
    }

    /// Whether the head of a hop's response is what its proxy says itself: a 407 that did not come out of a tunnel. All else
    /// comes from the server, or stands for what that said.
    func isOfProxy(_ head: TrawlHTTP.ResponseHead, _ fetch: RunningFetch) -> Bool {
        head.status == AuthenticationSide.proxy.status && proxyOrigin(fetch) != nil && !isTunnelled(fetch)
    }

    /// Where the options of a hop lead its connections, beside the URL: through a proxy that is a tunnel's matter.
    func route(of fetch: RunningFetch) -> String? {
        fetch.engine.terms.routes?.place(of: fetch.engine.target.origin)
    }

    /// Whether the caller says by hand what the proxy is told: then its challenges are his business.
    private func isByHand(_ fetch: RunningFetch, _ terms: ProxyTerms) -> Bool {
        let name = AuthenticationSide.proxy.credentialsField
        return terms.fields.contains(name) || fetch.engine.fields.contains(name)
    }

    /// Whether the challenges of a hop's proxy may be answered.
    func answersProxy(_ fetch: RunningFetch) -> Bool {
        guard let way = fetch.engine.way, proxyOrigin(fetch) != nil, !way.terms.schemes.isEmpty else { return false }
        // RFC 9110 §9.3.8, as for servers. What a proxy is told to make a tunnel is not part of the TRACE within.
        if fetch.engine.method == .trace, !isTunnelled(fetch) { return false }
        return !isByHand(fetch, way.terms)
    }

    /// The search for credentials of a hop's proxy, which what is given with it belongs to.
    func proxySide(_ fetch: RunningFetch) -> FetchAuthentication.Side? {
        guard let way = fetch.engine.way, let proxy = way.proxy, proxy.kind.speaksHTTP else { return nil }
        return FetchAuthentication.Side(
            CredentialSearch(
                side: .proxy, policy: fetch.plan.terms.authentication.policy(for: fetch, through: way),
                home: proxy.origin, explicit: proxy.credentials), home: proxy.origin)
    }

    /// Settles what the proxy of a hop is told before it asks.
    private mutating func settleProxyCredentials(of fetch: RunningFetch) throws(CredentialsFault) {
        guard let way = fetch.engine.way, let origin = proxyOrigin(fetch), answersProxy(fetch) else {
            fetch.engine.authentication?.proxy = nil
            return
        }
        // What one proxy refused, or was told, is no other proxy's business.
        if let known = fetch.engine.authentication?.proxy, known.home != origin {
            fetch.engine.authentication?.proxy = nil
        }
        if fetch.engine.authentication?.proxy == nil {
            let isKnown = fetch.plan.terms.authentication.readsSession && !credentials.isEmpty(.proxy)
            guard way.proxy?.credentials != nil || isKnown else { return }
        }
        if let fault = begin(.proxy, fetch) { throw fault }
    }

    /// What a proxy that speaks HTTP is told about us in a lease; nil is nothing.
    mutating func proveToProxy(_ fetch: RunningFetch) throws(CredentialsFault) -> SaidToProxy? {
        try settleProxyCredentials(of: fetch)
        guard let proxy = fetch.engine.authentication?.proxy, let proposal = proxy.proposal else { return nil }
        let who = proposal.credentials.kind
        if let login = Self.login(by: proposal) { return SaidToProxy(value: nil, login: login, who: who) }
        var value = proxy.value
        if proposal.scheme == .digest { value = try proof(of: proxyRequest(fetch, proposal), .proxy, fetch) }
        return value.map { SaidToProxy(value: $0, login: nil, who: who) }
    }

    /// RFC 7616 §3.4.6: the request target in the form in which the proxy gets it (RFC 9112 §3.2.2, §3.2.3).
    private func proxyRequest(_ fetch: RunningFetch, _ proposal: CredentialSearch.Proposal) -> DigestRequest {
        let target = fetch.engine.target
        guard isTunnelled(fetch) else {
            return DigestRequest(
                method: fetch.engine.method, target: Array(target.text.utf8),
                bodyHash: bodyHash(of: fetch, proposal))
        }
        let place = route(of: fetch) ?? "\(target.origin.host):\(target.origin.port)"
        return DigestRequest(
            method: .connect, target: Array(place.utf8),
            bodyHash: emptyBodyHash(proposal))
    }
}
