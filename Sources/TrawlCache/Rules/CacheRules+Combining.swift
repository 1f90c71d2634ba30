import TrawlHTTP

extension CacheRules {
    /// A stored part and a newer part made one, or nil when they may not be joined.
    ///
    /// Both must have the same strong validator, and touch or overlap. The newer head's fields win.
    ///
    /// - Parameter new: Made by `finished` of a 206, or by `conclude`.
    /// - Source: RFC 9111 §3.4; RFC 9110 §15.3.7.3.
    package func combined(_ stored: StoredResponse, _ new: StoredResponse) -> Combination? {
        let (old, part) = (stored.facts.body, new.facts.body)
        guard stored.key == new.key, !part.isComplete, sharesStrongValidator(stored, new) else { return nil }
        if let oldTotal = old.total, let newTotal = part.total, oldTotal != newTotal { return nil }
        guard old.range.upperBound >= part.range.lowerBound, part.range.upperBound >= old.range.lowerBound else {
            return nil
        }
        let total = part.total ?? old.total
        let first = min(old.first, part.first)
        let end = max(old.range.upperBound, part.range.upperBound)
        // Nothing lies behind the end of a whole.
        guard !old.isComplete || end == old.length else { return nil }
        let reachesEnd = [old, part].contains { $0.reachesEnd && $0.range.upperBound == end }
        guard let body = BodyExtent.part(first: first, length: end - first, total: total, reachesEnd: reachesEnd)
        else { return nil }
        var pieces: [Combination.Piece] = []
        if part.first < old.first { pieces.append(.received(0..<(old.first - part.first))) }
        pieces.append(.stored(0..<old.length))
        if part.range.upperBound > old.range.upperBound {
            pieces.append(.received((old.range.upperBound - part.first)..<part.length))
        }
        var response = new
        if response.metadata.isEmpty { response.metadata = stored.metadata }
        var (oldFields, newFields) = (stored.head.fields, new.head.fields)
        if old.range != first..<end { oldFields.removeContentDigests() }
        if part.range != first..<end { newFields.removeContentDigests() }
        response.head.fields = storable(
            merged(oldFields, newFields, new.facts.responseTime, hasDate: true),
            arrival: new.facts.responseTime, hasDate: true)
        guard !response.head.isTooLongToStore else { return nil }
        response.facts.body = body
        response.facts.flags.formUnion(stored.facts.flags.intersection(.coded))
        if old.isComplete || body.first == 0 && body.length == total {
            response.becomeWhole(length: end - first)
        } else {
            response.becomePart()
        }
        return Combination(response: response, pieces: pieces)
    }

    /// Whether both have the same strong validator.
    func sharesStrongValidator(_ left: StoredResponse, _ right: StoredResponse) -> Bool {
        let flags = left.facts.flags.intersection(right.facts.flags)
        if flags.contains(.strongTag) {
            return left.head.fields.withTag { old in
                right.head.fields.withTag { new in
                    guard let old, let new else { return false }
                    return EntityTag.areStronglyEqual(old, new)
                }
            }
        }
        // Two different kinds of tag are no match, whatever the dates say.
        guard left.facts.flags.union(right.facts.flags).isDisjoint(with: .tags) else { return false }
        return flags.contains(.strongDate) && left.facts.lastModified == right.facts.lastModified
    }

    /// Whether a 206 has, in its own fields, the strong validator of what is stored.
    ///
    /// - Source: RFC 9111 §3.4. RFC 9110 §15.3.7 wants `ETag` in each 206 whose 200 would have it; a server that leaves
    ///   it out must at least tell the same strong date.
    private func isSameRepresentation(_ own: ResponseReading, _ fields: FieldLines, as stored: StoredResponse) -> Bool {
        if own.tag != .none {
            return stored.head.fields.withTag { old in
                fields.withTag { new in
                    guard let old, let new else { return false }
                    return EntityTag.areStronglyEqual(old, new)
                }
            }
        }
        return stored.facts.flags.contains(.strongDate) && own.lastModified == stored.facts.lastModified
    }

    /// The rest that a 206 brings, as a stored response of its own, its body taken to come as the head says.
    func partResponse(
        _ request: CacheRequest, _ stored: StoredResponse, _ head: ResponseHead, _ range: ContentRange,
        _ times: (WallTime, WallTime)
    ) -> StoredResponse? {
        guard
            let body = BodyExtent.part(
                first: range.range.lowerBound, length: range.length, total: range.total,
                reachesEnd: range.range.upperBound == range.total)
        else { return nil }
        var head = head
        let own = ResponseReading(head.fields, now: times.1)
        guard isSameRepresentation(own, head.fields, as: stored) else { return nil }
        // A 206 to a request with If-Range may leave out what the caller is known to have (RFC 9110 §15.3.7), so its
        // facts are read from the fields of both.
        let new = head.fields
        head.fields = merged(stored.head.fields, new, times.1, hasDate: own.date != nil)
        var reading = ResponseReading(head.fields, now: times.1)
        if reading.control.flags.contains(.noCacheFields) {
            head.fields = storable(head.fields, arrival: times.1, hasDate: true)
            reading = ResponseReading(head.fields, now: times.1)
        }
        reading.age = own.age
        let selecting = selecting(stored, by: new, request, &reading, of: head.fields)
        let facts = facts(
            reading, status: 206, version: head.version, request: request, requestTime: times.0,
            responseTime: times.1, secondsToCache: request.policy.secondsToCache ?? stored.secondsToCache,
            body: body)
        return StoredResponse(
            key: stored.key, head: head, selecting: selecting, facts: facts,
            secondsToCache: request.policy.secondsToCache ?? stored.secondsToCache, metadata: stored.metadata)
    }
}

extension StoredResponse {
    /// Makes the head say which part is stored.
    mutating func becomePart() {
        facts.status = 206
        head.status = 206
        head.reason = "Partial Content"
        head.fields.removeAll { name in
            let field = KnownField(name)
            return field == .contentRange || field == .contentLength
        }
        let range = facts.body.range
        let total = facts.body.total.map { String($0) } ?? "*"
        head.fields.add("Content-Range", "bytes \(range.lowerBound)-\(max(range.upperBound, 1) - 1)/\(total)")
        head.fields.add("Content-Length", "\(facts.body.length)")
    }
}
