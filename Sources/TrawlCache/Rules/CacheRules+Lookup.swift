package import TrawlHTTP

extension CacheRules {
    /// What to do with a request, given the stored response it selects.
    ///
    /// A plain hit allocates nothing.
    ///
    /// - Source: RFC 9111 §4.
    package func lookup(_ request: CacheRequest, stored: StoredView?, at now: WallTime) -> CacheDecision {
        lookup(request, stored: stored, at: now) { stored?.storedFields() }
    }

    /// What to do with a request, given the stored response it selects.
    ///
    /// - Parameter fields: The fields of `stored`, nil when they are damaged; for who wants them as well. Not called on
    ///   a plain hit.
    package func lookup(
        _ request: CacheRequest, stored: StoredView?, at now: WallTime, fields: () -> FieldLines?
    ) -> CacheDecision {
        guard request.mayBeAnsweredFromStore else {
            return send(request, .forward(request.policy.options.contains(.doNotRead) ? .policy : .notEligible))
        }
        guard let stored else { return send(request, .forward(.nothingStored)) }
        let facts = stored.facts
        let coverage = coverage(of: request, facts, fields: fields)
        switch (standing(of: request, facts, at: now), coverage) {
        case (.usable(let source, let revalidates), .whole), (.usable(let source, let revalidates), .part):
            var reuse = Reuse(form: form(request, coverage), age: nil, source: source, revalidates: revalidates)
            reuse.age = facts.age(at: now) / 1000
            if request.traits.isDisjoint(with: [.ifNoneMatch, .ifModifiedSince]) { return .serve(reuse) }
            guard let fields = fields() else { return send(request, .forward(.damaged)) }
            if isKnownToCaller(request, facts, fields) { reuse.form = .notModified }
            return .serve(reuse)
        case (.usable, .missing(let place)):
            return complete(request, facts, fields, from: place, isFresh: true)
        case (.mustAsk, .missing(let place)):
            return complete(request, facts, fields, from: place, isFresh: false)
        case (_, .uncovered):
            return send(request, .forward(.range))
        case (.mustAsk, _):
            return validate(request, facts, fields, at: now)
        }
    }

    /// Whether `lookup` would answer with a request to be sent, or with nothing, for this stored response.
    ///
    /// For those who only look for answers: what to ask for is most of what a lookup costs then.
    package func mustAsk(_ request: CacheRequest, _ facts: StoredFacts, at now: WallTime) -> Bool {
        if case .mustAsk = standing(of: request, facts, at: now) { return true }
        return false
    }

    /// Whether what is served stale is validated by a request like the one it answers, and not by one for all of its
    /// body: of a stored part the rest would come as well, and without a validator a body that HEAD has no use for.
    ///
    /// - Source: RFC 5861 §3; RFC 9111 §4.3.5: the answer to HEAD updates what is stored for GET.
    package func isValidatedAlike(_ request: CacheRequest, _ facts: StoredFacts) -> Bool {
        !facts.body.isComplete
            || request.isHead && facts.status == 200 && facts.flags.isDisjoint(with: .validators)
    }

    // MARK: Freshness as the request sees it

    enum Standing {
        case usable(ResultSource, revalidates: Bool)
        case mustAsk
    }

    /// Whether a stored response may be used without asking.
    func standing(of request: CacheRequest, _ facts: StoredFacts, at now: WallTime) -> Standing {
        let policy = request.policy
        let age = facts.age(at: now)
        let lifetime = facts.flags.contains(.heuristic) && !policy.usesHeuristics ? 0 : facts.lifetime
        let isAhead = facts.isAhead(of: now)
        let isFresh = lifetime > age && !isAhead
        if !policy.options.isDisjoint(with: [.doNotLoad, .onlyLoadIfNotCached]) {
            return .usable(isFresh ? .cache : .stale, revalidates: false)
        }
        if policy.options.contains(.askServerIfModified) { return .mustAsk }
        if !policy.respectsCacheControl { return .usable(.cache, revalidates: false) }
        if isAhead { return .mustAsk }
        let control = request.control
        // RFC 9111 §5.2.1.4, §5.2.2.4.
        if control.flags.contains(.noCache) || facts.flags.contains(.noCache) { return .mustAsk }
        if let most = control.maxAge.number, most == 0 || most * 1000 < age {
            // RFC 9111 §5.2.1.1; RFC 8246 §2: what does not change needs no check on reload while it is fresh.
            guard facts.flags.contains(.immutable), isFresh else { return .mustAsk }
        }
        // RFC 9111 §5.2.1.3.
        if let least = control.minFresh.number, lifetime.subtractingClamping(age) < least * 1000 { return .mustAsk }
        if isFresh { return .usable(.cache, revalidates: false) }
        // RFC 9111 §4.2.4: never against the response's own word.
        if !facts.flags.isDisjoint(with: .neverStale) { return .mustAsk }
        let staleness = age.subtractingClamping(lifetime)
        // RFC 9111 §5.2.1.2.
        if control.flags.contains(.maxStaleAny) || control.maxStale.number.map({ $0 * 1000 >= staleness }) ?? false {
            return .usable(.stale, revalidates: false)
        }
        // RFC 5861 §3.
        if facts.staleWhileRevalidate > staleness, control.maxAge == .absent, control.minFresh == .absent,
            control.maxStale == .absent
        {
            return .usable(.stale, revalidates: true)
        }
        return .mustAsk
    }

    // MARK: Which bytes are there

    enum Coverage {
        case whole
        case part(Range<UInt64>)
        /// Everything up to this place is stored, the rest is not.
        case missing(from: UInt64)
        case uncovered
    }

    /// How far the stored bytes answer a request.
    ///
    /// - Source: RFC 9110 §14.2; RFC 9111 §3.3.
    func coverage(of request: CacheRequest, _ facts: StoredFacts, fields: () -> FieldLines?) -> Coverage {
        let body = facts.body
        // Ranges are of successful GET alone (RFC 9110 §14.2).
        if request.traits.contains(.range), request.isGet, facts.status == 200 || facts.status == 206,
            !request.traits.contains(.ifRange) || fields().map({ holdsIfRange(request, facts, $0) }) ?? false
        {
            // Lines of one name are a list (RFC 9110 §5.3), and several ranges are not served.
            let range = request.fields.only(.range) { ByteRange(field: $0) }
            if let part = range?.resolved(in: body) { return .part(part) }
            // What is ignored is no reason to ask (RFC 9110 §14.2).
            let isIgnored = request.fields.only(.range) { ByteRange.isIgnored($0) } ?? false
            guard isIgnored, body.isComplete else { return .uncovered }
        }
        if body.isComplete { return .whole }
        return request.isGet && !request.traits.contains(.range) && body.first == 0 && body.length > 0
            ? .missing(from: body.length) : .uncovered
    }

    /// Whether `If-Range` names the stored representation by a strong validator (RFC 9110 §13.1.5).
    private func holdsIfRange(_ request: CacheRequest, _ facts: StoredFacts, _ stored: FieldLines) -> Bool {
        request.fields.withFirst("If-Range") { value in
            guard let value = value.map(FieldSyntax.trimmed) else { return false }
            if let date = HTTPDate.parse(value, now: facts.responseTime) {
                return facts.flags.contains(.strongDate) && date == facts.lastModified
            }
            return stored.withTag { tag in
                tag.map { EntityTag.areStronglyEqual($0, value) } ?? false
            }
        }
    }

    func form(_ request: CacheRequest, _ coverage: Coverage) -> Reuse.Form {
        if request.isHead { return .headOnly }
        if case .part(let range) = coverage { return .part(range) }
        return .whole
    }

    /// Whether the caller's own condition says that it has the stored representation already.
    ///
    /// - Source: RFC 9111 §4.3.2; RFC 9110 §13.2.2.
    func isKnownToCaller(_ request: CacheRequest, _ facts: StoredFacts, _ stored: FieldLines) -> Bool {
        // RFC 9110 §13.2.1: conditions count only where the answer would be a success.
        guard StatusRules.isSuccess(facts.status) else { return false }
        if request.traits.contains(.ifNoneMatch) {
            // RFC 9110 §13.1.3: If-Modified-Since is not looked at beside If-None-Match.
            return EntityTag.isAny(in: request.fields)
                || stored.withTag { EntityTag.isListed($0, in: request.fields) }
        }
        guard request.traits.contains(.ifModifiedSince) else { return false }
        // RFC 9110 §13.1.3: one that is no date, or has several members, is ignored.
        let since = request.fields.only(.ifModifiedSince) { HTTPDate.parse($0, now: facts.responseTime) }
        guard let since else { return false }
        // RFC 9111 §4.3.2: without Last-Modified its Date stands in.
        return (facts.flags.contains(.lastModified) ? facts.lastModified : facts.date.wholeSeconds) <= since
    }

    // MARK: Sending

    /// Sends a request, or fails it when nothing may be sent.
    private func send(
        _ request: CacheRequest, _ purpose: Sending.Purpose, fields: FieldLines = FieldLines(),
        mayFallBack: Bool = false
    ) -> CacheDecision {
        let forbidsNetwork =
            request.policy.options.contains(.doNotLoad)
            // RFC 9111 §5.2.1.7.
            || request.control.flags.contains(.onlyIfCached) && request.policy.respectsCacheControl
        if forbidsNetwork { return .unsatisfiable }
        var fields = fields
        request.policy.reload.tell(in: &fields, of: request.fields)
        return .send(Sending(purpose, fields: fields, mayFallBack: mayFallBack))
    }

    /// Asks whether a stored response is still right.
    ///
    /// - Source: RFC 9111 §4.3.1.
    private func validate(
        _ request: CacheRequest, _ facts: StoredFacts, _ fields: () -> FieldLines?, at now: WallTime
    ) -> CacheDecision {
        let mayFallBack = mayServeStale(request, facts, after: .unreachable, at: now)
        // RFC 9110 §13.2.1: servers look at conditions only where they would answer with success, so a 304 could never
        // mean a stored redirect or error. HEAD is sent as it is: its answer updates what is stored (RFC 9111 §4.3.5).
        guard StatusRules.isSuccess(facts.status), !facts.flags.isDisjoint(with: .validators), !request.isHead else {
            return send(request, .forward(.stale), mayFallBack: mayFallBack)
        }
        guard let fields = fields() else { return send(request, .forward(.damaged)) }
        if request.traits.contains(.ifNoneMatch) {
            // The caller's list goes out as it is. A 304 tells us something only when ours is in it.
            let isOurs = fields.withTag { EntityTag.isListed($0, in: request.fields) }
            return send(request, isOurs ? .validate : .forward(.callerCondition), mayFallBack: mayFallBack)
        }
        var conditions = FieldLines()
        if !facts.flags.isDisjoint(with: .tags) { conditions.copy("ETag", of: fields, as: "If-None-Match") }
        // Beside an entity tag it serves origins that know no tags.
        if facts.flags.contains(.lastModified) {
            conditions.copy("Last-Modified", of: fields, as: "If-Modified-Since")
        }
        return send(request, .validate, fields: conditions, mayFallBack: mayFallBack)
    }

    /// Asks for the bytes that a stored part lacks.
    ///
    /// - Source: RFC 9111 §3.3, §3.4; RFC 9110 §13.1.5.
    private func complete(
        _ request: CacheRequest, _ facts: StoredFacts, _ fields: () -> FieldLines?, from place: UInt64, isFresh: Bool
    ) -> CacheDecision {
        let flags = facts.flags
        // A condition of the caller's is about the whole, which is not here; a stale part without a strong validator is
        // of no use. A fresh one may still be what the origin has: should it answer with a part nonetheless, that
        // cannot be joined, and the request is repeated. Beside a weak tag no date is strong: parts of what the server
        // codes anew each time would be joined.
        guard request.traits.isDisjoint(with: [.ifNoneMatch, .ifModifiedSince]), !flags.contains(.weakTag),
            isFresh || !flags.isDisjoint(with: .strongValidators), facts.status == 200 || facts.status == 206
        else { return send(request, .forward(isFresh ? .range : .stale)) }
        guard let fields = fields() else { return send(request, .forward(.damaged)) }
        var added = FieldLines()
        added.add("Range", "bytes=\(place)-")
        if flags.contains(.strongTag) {
            added.copy("ETag", of: fields, as: "If-Range")
        } else if flags.contains(.strongDate) {
            added.copy("Last-Modified", of: fields, as: "If-Range")
        }
        return send(request, .complete(from: place), fields: added)
    }
}

extension FieldLines {
    /// Adds a line that is known to be well formed.
    mutating func add(_ name: String, _ value: String) {
        // A refusal is not possible here, and would leave the line out.
        try? append(name, value)
    }

    /// Adds the first line of that name in `other` that is not empty under another name.
    mutating func copy(_ name: String, of other: FieldLines, as newName: String) {
        var isCopied = false
        other.forEach { lineName, value in
            guard !isCopied, FieldSyntax.equalIgnoringCase(lineName, name), !FieldSyntax.trimmed(value).isEmpty else {
                return
            }
            isCopied = true
            var newName = newName
            newName.withUTF8 { try? append(name: UnsafeRawBufferPointer($0), value: value) }
        }
    }
}

extension Int64 {
    func subtractingClamping(_ other: Int64) -> Int64 {
        let (difference, overflow) = subtractingReportingOverflow(other)
        return overflow ? (self < other ? .min : .max) : difference
    }
}
