import TrawlHTTP
import TrawlProtocol
import TrawlSession

/// Proxies: settled for each hop, and tried one after the other.
extension Supervisor {
    /// Finds out how a hop gets to its origin.
    ///
    /// - Returns: False when a script is asked; the hop goes on when it has answered.
    mutating func hasWay(_ fetch: RunningFetch, front: Bool) -> Bool {
        let terms = fetch.plan.terms.proxies ?? proxies
        if terms.isDirect || fetch.engine.way != nil { return true }
        switch terms.rules.choice(for: fetch.engine.target.origin) {
        case .direct: break
        case .through(let proxy): fetch.engine.way = HopWay([proxy], terms)
        case .script(let place): return hasWay(fetch, byScript: place, terms, front: front)
        }
        return true
    }

    /// Whether a hop whose proxy was not met, or not in time, goes another way; it is queued again then.
    ///
    /// - Parameter refused: Whether there is an answer of the proxy's: what that refuses is not tried past it.
    mutating func goesAnotherWay(_ fetch: RunningFetch, after failure: HopFailure, refused: Bool) -> Bool {
        let isUnmet = failure.kind == .proxy ? failure.isUnmet : failure.kind == .connectTimedOut && !refused
        guard isUnmet, !failure.requestSent, !fetch.goesDirectly, fetch.engine.way?.advance() == true
        else { return false }
        enqueue(fetch, front: true)
        return true
    }

    /// The proxy a hop is sent through; nil is none.
    ///
    /// - Parameter fields: The request's lines. What they say to a proxy by hand is taken out of them: it is for the
    ///   next proxy and nobody behind it (RFC 9110 §11.7.2).
    mutating func proxyRoute(_ fetch: RunningFetch, _ fields: inout FieldLines) throws(FetchError) -> ProxyRoute? {
        let name = AuthenticationSide.proxy.credentialsField
        let byHand = fields.contains(name) ? fields.values(name) : []
        if !byHand.isEmpty { fields.removeAll(name) }
        guard let way = fetch.engine.way, let proxy = way.proxy else {
            fetch.engine.authentication?.proxy = nil
            return nil
        }
        var route = ProxyRoute(proxy.kind, host: proxy.host, port: proxy.port)
        guard proxy.kind.speaksHTTP else {
            if case .password(let user, let password, _)? = proxy.credentials?.kind {
                route.user = user
                route.password = password.revealed
                route.identity = Self.identity(of: proxy.credentials?.kind, FieldLines())
            }
            return route
        }
        // libcurl asks for a tunnel to the place of a route by itself; its connection counts for the origin.
        route.tunnels = way.terms.tunnelsAll || self.route(of: fetch) != nil
        route.fields = way.terms.fields
        do {
            for value in byHand { try route.fields.append(name, value) }
        } catch {
            throw FetchError(.badRequest, "the proxy \(proxy.text): a field line", url: fetch.engine.target.text)
        }
        do throws(CredentialsFault) {
            let said = try proveToProxy(fetch)
            route.identity = Self.identity(of: said?.who, route.fields)
            if let value = said?.value { route.fields.setCredentials(value, .proxy) }
            route.login = said?.login
        } catch {
            throw FetchError(
                .proxyAuthentication, "the proxy \(proxy.text): \(error.explanation)", url: fetch.engine.target.text)
        }
        return route
    }

    /// A number for whom a proxy takes us for: another one for others, of no use outside this process, and 0 for
    /// nobody.
    private static func identity(of credentials: Credentials.Kind?, _ fields: FieldLines) -> UInt64 {
        guard credentials != nil || !fields.isEmpty else { return 0 }
        var hasher = Hasher()
        hasher.combine(credentials)
        hasher.combine(fields)
        return UInt64(bitPattern: Int64(hasher.finalize())) | 1
    }
}
