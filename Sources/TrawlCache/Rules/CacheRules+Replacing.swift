package import TrawlHTTP

/// What becomes of a stored response when another one of its key is stored.
package enum StoredFate: Sendable, Hashable {
    /// It stands beside the other one.
    case stays
    /// The other one takes its place.
    case goes
    /// It is the newer one: the other one was asked for before it, was longer on its way, and is not stored.
    case prevails
    /// It has every byte of the other one, which is a part of the same representation: that one is not stored, and this
    /// one gets its fields and times.
    case freshened(StoredResponse)
}

/// Where a stored part lies, seen from another one of the same representation.
package enum PartSide: Sendable, Hashable, CaseIterable {
    /// It begins earlier, and the other one goes on from it.
    case before
    /// It goes on from the other one.
    case behind
}

extension CacheRules {
    /// The most bytes of a stored part that are copied to make one of it and a new one. Longer ones stand beside each
    /// other: who reads ranges one after the other would have all of them copied each time.
    package static let longestJoined: UInt64 = 1 << 20

    /// What becomes of a stored response when another one is stored.
    ///
    /// The newest response counts (RFC 9111 §4), so a part takes the place of what it overlaps. Only where a strong
    /// validator says that both are of one representation is nothing lost by keeping what is stored, and where a whole
    /// is the same in another coding. What comes last may have been asked for first; then it is not the newest.
    package func fate(of old: StoredView, beside new: StoredResponse, at now: WallTime) -> StoredFate {
        guard old.isReplaced(by: new) else { return .stays }
        let isLater = old.facts.isLater(than: new.facts, at: now)
        let (held, part) = (old.facts.body, new.facts.body)
        if part.isComplete, !isLater { return .goes }
        let meet =
            part.isComplete || held.isComplete || held.range.overlaps(part.range) || old.differs(from: new)
        if let stored = try? StoredResponse(old) {
            if areOfOneRepresentation(stored, new) {
                if part.isComplete { return .goes }
                if held.holds(part) { return combined(stored, new).map { StoredFate.freshened($0.response) } ?? .goes }
                return part.holds(held) ? .goes : .stays
            }
            if held.isComplete, areCodingsOfOne(stored, new) { return part.isComplete ? .goes : .stays }
            if meet, isLater { return .prevails }
        }
        return meet ? .goes : .stays
    }

    /// The stored response, if it is a part that is to be made one with a new part before that is stored: they touch or
    /// overlap, and neither holds the other.
    ///
    /// - Source: RFC 9111 §3.4, which allows it.
    package func neighbour(_ old: StoredView, of new: StoredResponse, on side: PartSide) -> StoredResponse? {
        let (held, part) = (old.facts.body, new.facts.body)
        guard !held.isComplete, !part.isComplete, held.length <= Self.longestJoined,
            held.range.upperBound >= part.first, part.range.upperBound >= held.first
        else { return nil }
        switch side {
        case .before:
            guard held.first < part.first, held.range.upperBound < part.range.upperBound else { return nil }
        case .behind:
            guard held.first > part.first, held.range.upperBound > part.range.upperBound else { return nil }
        }
        guard old.isReplaced(by: new), let stored = try? StoredResponse(old), areOfOneRepresentation(stored, new) else {
            return nil
        }
        return stored
    }

    /// Whether a strong validator says that both have bytes of one representation, and nothing else says that they do
    /// not.
    private func areOfOneRepresentation(_ stored: StoredResponse, _ new: StoredResponse) -> Bool {
        guard areComparable(stored, new), haveSameCoding(stored, new) else { return false }
        if let old = stored.facts.body.total, let total = new.facts.body.total, old != total { return false }
        return sharesStrongValidator(stored, new)
    }

    /// Whether the tags say that nothing has changed between both, which are in different codings. A server that codes
    /// on the way weakens its tag, or leaves it as it is.
    ///
    /// - Source: RFC 9110 §8.8.3.3.
    private func areCodingsOfOne(_ stored: StoredResponse, _ new: StoredResponse) -> Bool {
        areComparable(stored, new) && !haveSameCoding(stored, new) && isSameTag(stored, new.head)
    }

    /// Whether validators tell anything of both.
    ///
    /// Credentials must be the same: not every server has tags of its own for each account.
    private func areComparable(_ stored: StoredResponse, _ new: StoredResponse) -> Bool {
        stored.facts.ownCredentials == new.facts.ownCredentials
            && (stored.facts.status == 200 || stored.facts.status == 206)
            && (new.facts.status == 200 || new.facts.status == 206)
    }

    private func haveSameCoding(_ stored: StoredResponse, _ new: StoredResponse) -> Bool {
        stored.head.fields.values("Content-Encoding") == new.head.fields.values("Content-Encoding")
    }
}

extension Storing {
    /// The part that a 206 says it brings; nil of other responses.
    package var announcedPart: StoredResponse? {
        guard let contentRange,
            let body = BodyExtent.part(
                first: contentRange.range.lowerBound, length: contentRange.length, total: contentRange.total,
                reachesEnd: contentRange.range.upperBound == contentRange.total)
        else { return nil }
        var part = response
        part.facts.body = body
        return part
    }
}

extension StoredView {
    /// Whether validators or lengths tell that it is another representation.
    fileprivate func differs(from other: StoredResponse) -> Bool {
        if let total = facts.body.total, let otherTotal = other.facts.body.total, total != otherTotal { return true }
        let flags = facts.flags.intersection(other.facts.flags)
        if !facts.flags.isDisjoint(with: .tags), !other.facts.flags.isDisjoint(with: .tags) {
            guard let stored = storedFields() else { return true }
            return stored.withTag { old in
                other.head.fields.withTag { new in
                    guard let old, let new else { return true }
                    return !EntityTag.areWeaklyEqual(old, new)
                }
            }
        }
        return flags.contains(.lastModified) && facts.lastModified != other.facts.lastModified
    }
}
