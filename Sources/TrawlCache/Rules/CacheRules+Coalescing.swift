import TrawlHTTP

extension CacheRules {
    /// Whether others may wait for the answer to this request rather than send their own.
    ///
    /// Whether they get it is decided when it has come: each follower looks it up like any stored response, and sends
    /// its own request when it may not use it.
    ///
    /// - Source: RFC 9111 §4 (a cache may answer several requests with one response, if it may reuse it for them).
    package func mayLead(_ request: CacheRequest) -> Bool {
        let policy = request.policy
        guard request.isGet, request.mayBeAnsweredFromStore,
            request.traits.isDisjoint(with: [.range, .ifRange, .ifNoneMatch, .ifModifiedSince]),
            policy.options.isDisjoint(with: [.doNotWrite, .doNotLoad, .askServerIfModified]), policy.reload == .none
        else { return false }
        return request.control.flags.isDisjoint(with: [.noCache, .noStore, .onlyIfCached])
            && request.control.maxAge.number != 0
    }

    /// Whether a request may wait for the answer to another one that has been sent.
    package func mayFollow(_ request: CacheRequest, _ leader: CacheRequest) -> Bool {
        guard mayLead(request), mayLead(leader), request.target.text == leader.target.text,
            request.credentials == leader.credentials
        else { return false }
        if request.fields == leader.fields { return true }
        // What responses usually vary on; anything else shows when the response has come.
        return ["Accept", "Accept-Encoding", "Accept-Language", "Cookie"].allSatisfy { name in
            request.fields.haveSameValues(name, as: leader.fields)
        }
    }

    /// Whether those who wait for the answer to a request could use the response that came, as it is or once the origin
    /// has said that it is still right, as far as its head tells. If not, their wait for its body is in vain.
    ///
    /// - Parameter longestBody: The most bytes of a body that are stored.
    /// - Source: RFC 9111 §4.2, §4.3.1.
    package func mayServeOthers(_ request: CacheRequest, _ storing: Storing, longestBody: UInt64) -> Bool {
        if let announced = storing.announced, announced > longestBody { return false }
        let (policy, control, facts) = (request.policy, request.control, storing.response.facts)
        // Where age does not matter to the request, it may not to those that wait for it.
        if !policy.respectsCacheControl || !policy.options.isDisjoint(with: [.doNotLoad, .onlyLoadIfNotCached])
            || control.maxStale != .absent || control.flags.contains(.maxStaleAny)
        {
            return true
        }
        // What can be validated: RFC 9110 §13.2.1.
        if StatusRules.isSuccess(facts.status), !facts.flags.isDisjoint(with: .validators) { return true }
        if facts.flags.contains(.noCache) { return false }
        let lifetime = facts.flags.contains(.heuristic) && !policy.usesHeuristics ? 0 : facts.lifetime
        return lifetime.addingClamping(facts.staleWhileRevalidate) > facts.initialAge
    }
}
