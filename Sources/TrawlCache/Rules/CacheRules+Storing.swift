package import TrawlHTTP

extension CacheRules {
    /// Whether a response may be stored, decided when its head has come.
    ///
    /// - Parameter requestTime: When the request was sent.
    /// - Parameter responseTime: When the head came.
    /// - Parameter resolving: Makes a target of a reference in the context of the request's target. Asked only for
    ///   `Content-Location` in answer to POST and PATCH.
    /// - Source: RFC 9111 §3.
    package func storing(
        _ request: CacheRequest, _ head: ResponseHead, requestTime: WallTime, responseTime: WallTime,
        resolving: (String) -> TargetURI?
    ) -> StoreDecision {
        let policy = request.policy
        let isChange = request.method == .post || request.method == .patch
        guard request.isGet || isChange, !policy.options.contains(.doNotWrite),
            // The body of a GET is not part of the key.
            isChange || !request.traits.contains(.body), request.traits.isDisjoint(with: [.otherScheme, .otherHost])
        else { return .no(.notEligible) }
        guard !StatusRules.isNeverStored(head.status) else { return .no(.status) }
        let reading = ResponseReading(head.fields, now: responseTime)
        // RFC 9111 §5.2.1.5.
        if policy.respectsCacheControl, request.control.flags.contains(.noStore) { return .no(.requestNoStore) }
        if forbidsStoring(reading.control, status: head.status, request) { return .no(.responseNoStore) }
        // What the caller wants of lifetimes is meant for answers, not for failures that pass.
        let isLasting = StatusRules.isLasting(head.status)
        let secondsToCache = isLasting ? policy.secondsToCache : nil
        guard policy.respectsCacheControl || isLasting else { return .no(.status) }
        let hasLifetime = reading.hasExplicitLifetime || secondsToCache != nil
        if isChange {
            // RFC 9110 §9.3.3, RFC 5789 §2: an answer that says how long it is fresh, and that it is what GET would give,
            // under whatever spelling of the target (RFC 9110 §4.2.3, §8.7). One without content is none of that, and 206
            // is for GET alone.
            guard hasLifetime, StatusRules.isSuccess(head.status), !(204...206).contains(head.status),
                let location = head.fields.only(.contentLocation, { FieldLines.reference(of: $0) }),
                let named = resolving(location), CacheKey(named) == request.key
            else { return .no(.notEligible) }
        }
        // RFC 9111 §3: something must say that it may be stored. In a private cache `private` does (§5.2.2.7).
        guard
            hasLifetime || StatusRules.isHeuristicallyCacheable(head.status)
                || !reading.control.flags.isDisjoint(with: [.isPublic, .isPrivate]) || !policy.respectsCacheControl
        else { return .no(.noFreshness) }
        var contentRange: ContentRange?
        if head.status == 206 {
            // RFC 9111 §3.3. Several ranges in one body are not taken apart. Who sent an `If-Range` has the fields, so that
            // the answer may leave out what the bytes are (RFC 9110 §15.3.7); here they are not known.
            contentRange = ContentRange(head.fields)
            guard request.traits.contains(.range), !request.traits.contains(.ifRange), contentRange != nil else {
                return .no(.range)
            }
        }
        guard let selecting = SelectingFields(vary: head.fields, request: request.fields, tag: tag) else {
            return .no(.variesOnEverything)
        }
        var stored = head
        stored.fields = storable(head.fields, arrival: responseTime, hasDate: reading.date != nil)
        var kept = reading
        if reading.control.flags.contains(.noCacheFields) {
            // A validator that is not kept is none.
            kept = ResponseReading(stored.fields, now: responseTime)
            (kept.age, kept.date) = (reading.age, reading.date)
        }
        let facts = facts(
            kept, status: head.status, version: head.version, request: request,
            requestTime: requestTime, responseTime: responseTime, secondsToCache: secondsToCache,
            body: .complete(length: 0))
        return .store(
            Storing(
                response: StoredResponse(
                    key: request.key, head: stored, selecting: selecting, facts: facts,
                    secondsToCache: secondsToCache),
                contentRange: contentRange, announced: head.contentLength, isDelimited: head.isDelimited))
    }

    /// The stored response once the body has ended, or nil when it is of no use.
    ///
    /// - Parameter received: How many bytes came, transfer codings undone and content codings not.
    /// - Parameter isComplete: Whether the body ended as the message said it would (RFC 9111 §3.3).
    package func finished(
        _ storing: Storing, received: UInt64, isComplete: Bool, metadata: [UInt8] = []
    ) -> StoredResponse? {
        // RFC 9112 §8: a connection that broke looks like one that was closed. Where nothing else ends the message, the
        // range says what is missing.
        let isShort = !storing.isDelimited && storing.contentRange.map { received < $0.length } ?? false
        let isComplete = isComplete && !isShort
        var response = storing.response
        response.metadata = metadata
        if !isComplete { response.head.fields.removeContentDigests() }
        let isStrong = !response.facts.flags.isDisjoint(with: .strongValidators)
        if let claimed = storing.contentRange {
            guard received > 0, received <= claimed.length, isComplete || isStrong else { return nil }
            if isComplete, claimed.range.lowerBound == 0, received == claimed.total {
                response.becomeWhole(length: received)
                return response
            }
            let reachesEnd = isComplete && claimed.range.upperBound == claimed.total
            guard
                let body = BodyExtent.part(
                    first: claimed.range.lowerBound, length: received, total: claimed.total, reachesEnd: reachesEnd)
            else { return nil }
            response.facts.body = body
        } else if isComplete {
            response.facts.body = .complete(length: received)
        } else {
            // RFC 9111 §3.3: an interrupted answer is a part, of use when the rest can be asked for.
            guard response.head.status == 200, isStrong, received > 0, storing.announced.map({ received < $0 }) ?? true,
                let body = BodyExtent.part(first: 0, length: received, total: storing.announced, reachesEnd: false)
            else { return nil }
            response.facts.body = body
        }
        return response
    }

    // MARK: Parts

    /// Whether nothing of a response may be kept.
    ///
    /// - Source: RFC 9111 §5.2.2.5, §5.2.2.3: `must-understand` takes the place of `no-store` where the status is
    ///   understood.
    func forbidsStoring(_ control: CacheControl, status: UInt16, _ request: CacheRequest) -> Bool {
        guard request.policy.respectsCacheControl else { return false }
        if control.flags.contains(.mustUnderstand) { return !StatusRules.isUnderstood(status) }
        return control.flags.contains(.noStore)
    }

    /// The fields that are kept of a response.
    ///
    /// - Source: RFC 9111 §3.1, §5.2.2.4.
    func storable(_ fields: FieldLines, arrival: WallTime, hasDate: Bool) -> FieldLines {
        var listed = FieldNames()
        fields.forEach { name, value in
            switch KnownField(name) {
            // Fields named by Connection belong to the connection (RFC 9110 §7.6.1). Some go anyway, and `close` is
            // none.
            case .connection:
                value.forEachMember { member in
                    if !member.isToken("close"), KnownField(member)?.isHopByHop != true { listed.insert(member) }
                }
            // Fields named by no-cache are not to be used without asking; they are not kept, and the rest may be used.
            case .cacheControl: CacheControl.forEachNoCacheField(value) { listed.insert($0) }
            default: break
            }
        }
        var result = fields
        result.removeAll { name in
            if let field = KnownField(name) {
                // Age is told anew each time (RFC 9111 §5.1); a Date that is none is replaced (RFC 9110 §6.6.1).
                if field.isHopByHop || field == .age || field == .date && !hasDate { return true }
                // Without these the stored bytes would be taken for others.
                if field.saysWhatTheBytesAre { return false }
            }
            return listed.contains(name)
        }
        if !hasDate { result.add("Date", HTTPDate.format(arrival)) }
        return result
    }

    /// What a hit will need to know.
    func facts(
        _ reading: ResponseReading, status: UInt16, version: HTTPVersion, request: CacheRequest, requestTime: WallTime,
        responseTime: WallTime, secondsToCache: Int64?, body: BodyExtent
    ) -> StoredFacts {
        let control = reading.control
        let initialAge = reading.initialAge(requestTime: requestTime, responseTime: responseTime)
        var (lifetime, isGuess) = reading.lifetime(status: status, arrival: responseTime)
        if let secondsToCache {
            // Counted from arrival, whatever the age was then.
            lifetime = secondsToCache.multipliedClamping(by: 1000).addingClamping(initialAge)
            isGuess = false
        }
        let date = reading.date ?? responseTime
        var flags: StoredFacts.Flags = []
        flags.set(.noCache, control.flags.contains(.noCache))
        flags.set(.mustRevalidate, control.flags.contains(.mustRevalidate))
        flags.set(.immutable, control.flags.contains(.immutable))
        flags.set(.openToAll, control.isForAll && !request.isPartitioned)
        flags.set(.heuristic, isGuess)
        flags.set(.strongTag, reading.tag == .strong)
        flags.set(.weakTag, reading.tag == .weak)
        flags.set(.lastModified, reading.lastModified != nil)
        // RFC 9110 §8.8.2.2: strong when it is at least a second older than the response.
        let distance = reading.lastModified.flatMap { last in reading.date.map { $0.milliseconds(since: last) } }
        flags.set(.strongDate, distance ?? 0 >= 1000)
        flags.set(.coded, reading.isCoded)
        flags.set(.codedUnasked, reading.isCoded && !request.traits.contains(.acceptEncoding))
        flags.set(.credentials, request.credentials != nil)
        flags.set(.overridden, secondsToCache != nil)
        flags.set(.complete, body.isComplete)
        return StoredFacts(
            status: status, version: version, flags: flags, requestTime: requestTime, responseTime: responseTime,
            date: date, lastModified: reading.lastModified ?? WallTime(milliseconds: 0), initialAge: initialAge,
            lifetime: lifetime, staleWhileRevalidate: (control.staleWhileRevalidate.number ?? 0) * 1000,
            staleIfError: (control.staleIfError.number ?? 0) * 1000,
            credentials: request.credentials ?? SecretTag(high: 0, low: 0), body: body)
    }
}

extension ResponseHead {
    /// Whether the message itself says where its content ends: by a length, by the last chunk, or by the end of a stream.
    ///
    /// - Source: RFC 9112 §6.3; RFC 9113 §8.1.
    fileprivate var isDelimited: Bool {
        if version == .http2 || contentLength != nil { return true }
        var isChunked = false
        fields.forEach { name, value in
            guard KnownField(name) == .transferEncoding else { return }
            value.forEachMember { coding in
                if coding.isToken("chunked") { isChunked = true }
            }
        }
        return isChunked
    }
}

extension StoredResponse {
    /// Makes a whole response of one whose part turned out to be all there is (RFC 9110 §15.3.7.3).
    mutating func becomeWhole(length: UInt64) {
        facts.body = .complete(length: length)
        facts.status = 200
        head.status = 200
        head.reason = "OK"
        head.fields.removeAll { name in
            let field = KnownField(name)
            return field == .contentRange || field == .contentLength
        }
        head.fields.add("Content-Length", "\(length)")
    }
}
