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
            request.fields.values(name) == leader.fields.values(name)
        }
    }
}
