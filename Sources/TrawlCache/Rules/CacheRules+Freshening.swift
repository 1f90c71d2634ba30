package import TrawlHTTP

/// What a HEAD's answer does to a stored response.
package enum HeadUpdate: Sendable, Hashable {
    /// Store it anew with its head updated.
    case freshened(StoredResponse)
    /// Remove it: the origin has something else now.
    case remove
    /// Nothing.
    case keep
}

/// Why the origin gave no usable answer.
package enum OriginFailure: Sendable, Hashable {
    /// No answer came.
    case unreachable
    /// An answer with this status came.
    case status(UInt16)
}

extension CacheRules {
    /// What the head of an answer means when there was a stored response to start from.
    ///
    /// - Parameter sending: What `lookup` said.
    /// - Source: RFC 9111 §4.3.3.
    package func conclude(
        _ request: CacheRequest, _ sending: Sending, stored: StoredResponse, _ head: ResponseHead,
        requestTime: WallTime, responseTime: WallTime
    ) -> Conclusion {
        if StatusRules.isFailure(head.status),
            let reuse = fallback(request, stored, after: .status(head.status), at: responseTime)
        {
            return .fallBack(reuse)
        }
        switch sending.purpose {
        case .forward:
            // To HEAD a 304 may say something of what is stored: `updatedByHead`.
            return head.status == 304 && !request.isHead ? .handOn : .replace
        case .validate:
            let times = (request: requestTime, response: responseTime)
            if isRepeated(stored, by: head, request) {
                guard let fresh = updated(stored, request, head, times) else { return .replace }
                return validated(stored, as: fresh, request, by: head, responseTime)
            }
            guard head.status == 304 else { return .replace }
            guard isSelected(stored, by: head, request, responseTime) else {
                return request.traits.contains(.ifNoneMatch) ? .handOn : .repeatPlain
            }
            guard let fresh = updated(stored, request, head, times) else { return .repeatPlain }
            return validated(stored, as: fresh, request, by: head, responseTime)
        case .complete:
            // Both are about fields of ours: nobody who waits has sent a condition (RFC 9110 §15.4.5).
            if head.status == 416 || head.status == 304 { return .repeatPlain }
            guard head.status == 206 else { return .replace }
            // The answer's bytes are delivered behind the stored ones as they come, so they must begin there.
            guard let range = ContentRange(head.fields), range.range.lowerBound == stored.facts.body.range.upperBound,
                let part = partResponse(request, stored, head, range, (requestTime, responseTime)),
                var combination = combined(stored, part), combination.response.facts.body.isComplete
            else { return .repeatPlain }
            let control = ResponseReading(head.fields, now: responseTime).control
            combination.mayBeStored = !forbidsStoring(control, status: head.status, request)
            return .completed(combination, validatedReuse(request, combination.response, by: head, responseTime))
        }
    }

    /// What it means that the origin has just said a stored response to be right.
    private func validated(
        _ stored: StoredResponse, as fresh: StoredResponse, _ request: CacheRequest, by head: ResponseHead,
        _ now: WallTime
    ) -> Conclusion {
        let reuse = validatedReuse(request, fresh, by: head, now)
        return isForCallerAlone(stored, head, request, now) ? .confirmed(fresh, reuse) : .freshened(fresh, reuse)
    }

    /// Whether a head that came to credentials changes nothing of a stored response that came without: whom that answers
    /// is not in the head, whose fields may be one account's.
    ///
    /// RFC 9111 §4.3.4 would update the stored response. Here one store serves many accounts.
    private func isForCallerAlone(
        _ stored: StoredResponse, _ head: ResponseHead, _ request: CacheRequest, _ now: WallTime
    ) -> Bool {
        guard stored.facts.ownCredentials == nil, request.credentials != nil else { return false }
        return !ResponseReading(head.fields, now: now).control.isForAll
    }

    /// How a response is presented that the origin has just said to be right.
    private func validatedReuse(
        _ request: CacheRequest, _ stored: StoredResponse, by head: ResponseHead, _ now: WallTime
    ) -> Reuse {
        let coverage = coverage(of: request, stored.facts) { stored.head.fields }
        // Age would say that the origin was not asked (RFC 9111 §5.1), unless another cache answered for it.
        let age = ResponseReading(head.fields, now: now).age
        var reuse = Reuse(form: form(request, coverage), age: age, source: .revalidated)
        if isKnownToCaller(request, stored.facts, stored.head.fields) { reuse.form = .notModified }
        return reuse
    }

    /// Whether a response of its own, that is not stored, says that what was asked about is not to be used any more.
    ///
    /// - Source: RFC 9111 §4.3.3: none of what was nominated is suitable. What asks for credentials, or for patience,
    ///   and what failed say nothing of it.
    package func isObsolete(_ sending: Sending, after status: UInt16) -> Bool {
        switch sending.purpose {
        case .forward: return false
        case .validate, .complete: break
        }
        switch status {
        case 401, 407, 408, 425, 429: return false
        default: return status < 500
        }
    }

    // MARK: 304

    /// Whether a 304 is about a stored response.
    ///
    /// - Source: RFC 9111 §4.3.4.
    private func isSelected(
        _ stored: StoredResponse, by head: ResponseHead, _ request: CacheRequest, _ now: WallTime
    ) -> Bool {
        let tag = ResponseReading(head.fields, now: now).tag
        let hasTag = tag != .none
        if hasTag, !stored.facts.flags.isDisjoint(with: .tags) { return isSameTag(stored, head) }
        if let modified = head.fields.withFirst("Last-Modified", { $0.flatMap { HTTPDate.parse($0, now: now) } }) {
            // Beside a strong tag that has nothing to be compared with only a strong date selects (RFC 9110 §8.8.2.2).
            // Where all that came is weak, what is weak selects.
            return stored.facts.flags.contains(tag == .strong ? .strongDate : .lastModified)
                && modified == stored.facts.lastModified
        }
        // Without any validator the standard selects nothing here. But when the question named one stored response
        // only, there is nothing else the answer could be about, and servers do leave validators out.
        return !hasTag && (!request.traits.contains(.ifNoneMatch) || EntityTag.count(in: request.fields) == 1)
    }

    /// By the weak comparison: some servers weaken a tag when they encode the content.
    func isSameTag(_ stored: StoredResponse, _ head: ResponseHead) -> Bool {
        stored.head.fields.withTag { old in
            head.fields.withTag { new in
                guard let old, let new else { return false }
                return EntityTag.areWeaklyEqual(old, new)
            }
        }
    }

    /// Whether a 200 brings what is stored once more, where the caller wants that to be looked for.
    ///
    /// - Source: RFC 9110 §8.8.1: a strong validator changes whenever the bytes do. A server that forgets to tell
    ///   codings apart (§8.8.3.3) or announces another length is not believed.
    private func isRepeated(_ stored: StoredResponse, by head: ResponseHead, _ request: CacheRequest) -> Bool {
        guard request.policy.stopsAtEqualTag, head.status == 200, stored.facts.status == 200,
            stored.head.fields.values("Content-Encoding") == head.fields.values("Content-Encoding")
        else { return false }
        if let length = head.contentLength, let total = stored.facts.body.total, length != total { return false }
        return stored.head.fields.withTag { old in
            head.fields.withTag { new in
                guard let old, let new else { return false }
                return EntityTag.areStronglyEqual(old, new)
            }
        }
    }

    /// A stored response with its head and times updated by a newer head of the same representation; nil when its head would
    /// be too long.
    private func updated(
        _ stored: StoredResponse, _ request: CacheRequest, _ head: ResponseHead, _ times: (WallTime, WallTime)
    ) -> StoredResponse? {
        let reading = ResponseReading(head.fields, now: times.1)
        // Nothing of such a message is kept.
        if forbidsStoring(reading.control, status: stored.facts.status, request) { return stored }
        var fresh = stored
        fresh.head.fields = merged(stored.head.fields, head.fields, times.1, hasDate: reading.date != nil)
        guard !fresh.head.isTooLongToStore else { return nil }
        var merged = ResponseReading(fresh.head.fields, now: times.1)
        if merged.control.flags.contains(.noCacheFields) {
            // Whichever of the two messages names them, and whichever has them (RFC 9111 §5.2.2.4).
            fresh.head.fields = storable(fresh.head.fields, arrival: times.1, hasDate: true)
            merged = ResponseReading(fresh.head.fields, now: times.1)
        }
        merged.age = reading.age
        fresh.selecting = selecting(stored, by: head.fields, request, &merged, of: fresh.head.fields)
        let override = request.policy.secondsToCache ?? stored.secondsToCache
        fresh.secondsToCache = override
        fresh.facts = facts(
            merged, status: stored.facts.status, version: stored.facts.version, request: request,
            requestTime: times.0, responseTime: times.1, secondsToCache: override,
            body: stored.facts.body)
        // Its own time is finer than that of a line.
        if reading.date == nil { fresh.facts.date = times.1 }
        if stored.facts.ownCredentials == nil {
            // It stays what came without any, whoever has asked about it.
            fresh.facts.flags.remove(.credentials)
            fresh.facts.credentials = stored.facts.credentials
        }
        return fresh
    }

    /// What selects a stored response that a newer head has been merged into.
    ///
    /// - Parameter reading: What the merged fields say; of one that nothing can select any more, that it has to be
    ///   asked about (RFC 9111 §4.1).
    func selecting(
        _ stored: StoredResponse, by new: FieldLines, _ request: CacheRequest, _ reading: inout ResponseReading,
        of merged: FieldLines
    ) -> SelectingFields {
        guard let selecting = SelectingFields(vary: merged, request: request.fields, tag: tag) else {
            reading.control.flags.insert(.noCache)
            return stored.selecting
        }
        return new.contains("Vary") ? selecting : stored.selecting
    }

    /// Stored fields with those of a newer head in place of any of the same name.
    ///
    /// - Source: RFC 9111 §3.2. What the stored bytes depend on stays: their length, coding and range.
    func merged(
        _ stored: FieldLines, _ new: FieldLines, _ arrival: WallTime, hasDate: Bool
    ) -> FieldLines {
        var new = storable(new, arrival: arrival, hasDate: hasDate)
        // Servers that encode on the way weaken the tag of what they send, and not that of their 304. The stored bytes
        // do not become those of the strong tag by that.
        let isWeak = stored.withTag { $0.map(EntityTag.isWeak) ?? false }
        let keepsTag = isWeak || !new.withTag { $0 != nil }
        new.removeAll { name in
            switch KnownField(name) {
            case .contentLength, .contentEncoding, .contentRange: true
            case .etag: keepsTag
            default: false
            }
        }
        // Which names that the rules know there are, a bit for each.
        var known: UInt64 = 0
        var others = FieldNames()
        new.forEach { name, _ in
            if let field = KnownField(name) { known |= 1 << UInt64(field.rawValue) } else { others.insert(name) }
        }
        var result = stored
        result.removeAll { name in
            if let field = KnownField(name) { return known & 1 << UInt64(field.rawValue) != 0 }
            return others.contains(name)
        }
        result.append(contentsOf: new)
        return result
    }

    // MARK: HEAD

    /// What the answer to HEAD does to the stored response that GET would have selected.
    ///
    /// - Source: RFC 9111 §4.3.5; §4.3.4 of a 304, which is to the caller's own condition.
    package func updatedByHead(
        _ request: CacheRequest, stored: StoredResponse, _ head: ResponseHead, requestTime: WallTime,
        responseTime: WallTime
    ) -> HeadUpdate {
        guard request.isHead, request.mayWrite else { return .keep }
        switch head.status {
        case 200:
            guard isDescribed(stored, by: head, responseTime) else { return .remove }
        case 304:
            // As of GET: it tells something only where what is stored is among what the condition names.
            guard StatusRules.isSuccess(stored.facts.status), isListed(stored, by: request),
                isSelected(stored, by: head, request, responseTime)
            else { return .keep }
        // Not of the standard's words, but the origin says that it is gone.
        case 404, 410: return .remove
        default: return .keep
        }
        guard !isForCallerAlone(stored, head, request, responseTime) else { return .keep }
        return updated(stored, request, head, (requestTime, responseTime)).map(HeadUpdate.freshened) ?? .keep
    }

    /// Whether `If-None-Match` of a request lists the tag of a stored response.
    private func isListed(_ stored: StoredResponse, by request: CacheRequest) -> Bool {
        stored.head.fields.withTag { EntityTag.isListed($0, in: request.fields) }
    }

    /// Whether validators and length of a HEAD's answer, as far as they are there, are those of the stored response.
    private func isDescribed(_ stored: StoredResponse, by head: ResponseHead, _ now: WallTime) -> Bool {
        guard stored.facts.status == 200 || stored.facts.status == 206 else { return false }
        if let length = head.contentLength, let total = stored.facts.body.total, length != total { return false }
        if head.fields.withTag({ $0 != nil }) {
            guard isSameTag(stored, head) else { return false }
        }
        if let modified = head.fields.withFirst("Last-Modified", { $0.flatMap { HTTPDate.parse($0, now: now) } }) {
            guard stored.facts.flags.contains(.lastModified), modified == stored.facts.lastModified else {
                return false
            }
        }
        return true
    }

    // MARK: Stale

    /// Whether, and how, a stored response may stand in for an answer that did not come.
    ///
    /// - Source: RFC 9111 §4.2.4; RFC 5861 §4.
    package func fallback(
        _ request: CacheRequest, _ stored: StoredResponse, after failure: OriginFailure, at now: WallTime
    ) -> Reuse? {
        guard mayServeStale(request, stored.facts, after: failure, at: now) else { return nil }
        let coverage = coverage(of: request, stored.facts) { stored.head.fields }
        switch coverage {
        case .missing, .uncovered: return nil
        case .whole, .part: break
        }
        // What is fresh too: who had the server asked is told that it did not answer.
        var reuse = Reuse(form: form(request, coverage), age: stored.facts.age(at: now) / 1000, source: .stale)
        if isKnownToCaller(request, stored.facts, stored.head.fields) { reuse.form = .notModified }
        return reuse
    }

    func mayServeStale(
        _ request: CacheRequest, _ facts: StoredFacts, after failure: OriginFailure, at now: WallTime
    ) -> Bool {
        let policy = request.policy
        guard request.mayBeAnsweredFromStore else { return false }
        let isForbidden = !facts.flags.isDisjoint(with: .neverStale) && policy.respectsCacheControl
        if failure == .unreachable, policy.options.contains(.fallbackToCacheIfLoadFails) {
            return !isForbidden || policy.forcesFallback
        }
        if isForbidden || request.control.flags.contains(.noCache) || !policy.respectsCacheControl { return false }
        // What is fresh needs no allowance for its age, but one for not having been asked about.
        let staleness = max(0, facts.age(at: now).subtractingClamping(facts.lifetime))
        // What a request asks for holds beside what the response allows (RFC 5861 §4).
        let asked = request.control.staleIfError.number.map { $0 * 1000 } ?? 0
        return max(facts.staleIfError, asked) > staleness
    }
}
