package import TrawlHTTP

/// A response to be stored.
package struct NewRecord: Sendable {
    /// Of its cache key.
    package var digest: CacheDigest
    /// What is known of the response, the full cache key included; opaque here.
    package var header: [UInt8]
    /// The body.
    package var body: SpooledBody
    /// How long it may stay.
    package var storageClass: StorageClass
    /// When it is stored, in milliseconds since 1970.
    package var stored: UInt64
    /// When it was asked for, in milliseconds since 1970: it is not stored where all of its digest was removed for an
    /// answer that came later. Nothing of what is stored in any case.
    package var asked: UInt64?
    /// Records of the same cache key that it replaces, by sequence.
    package var replacing: [UInt64]
    /// What becomes of another record of the same digest, by its header. All stay when nothing is given.
    package var judge: Judge?

    /// Tells from the header of an older record, whose bytes are valid only during the call, what becomes of it.
    package typealias Judge = @Sendable (_ old: UnsafeRawBufferPointer) -> Verdict

    /// What becomes of a record when another one of its digest is stored.
    package enum Verdict: Sendable, Hashable {
        case stays
        /// The new one takes its place.
        case goes
        /// The new one is not stored: it holds what that has, and gets this header, or it is newer, and gets none.
        case prevails(header: [UInt8]?)
    }

    /// A record of class `permanent` that replaces nothing, unless said otherwise.
    package init(
        digest: CacheDigest, header: [UInt8], body: SpooledBody, storageClass: StorageClass = .permanent,
        stored: UInt64, asked: UInt64? = nil, replacing: [UInt64] = [],
        judge: Judge? = nil
    ) {
        self.digest = digest
        self.header = header
        self.body = body
        self.storageClass = storageClass
        self.stored = stored
        self.asked = asked
        self.replacing = replacing
        self.judge = judge
    }
}

/// Which records are meant: those for which all of what is given holds.
package struct CacheFilter: Sendable {
    /// What a record's class must be.
    package enum Class: Hashable, Sendable {
        case permanent
        /// Of any session.
        case anySession
        case session(SessionID)
    }

    /// The class; any when nothing is given.
    package var storageClass: Class?
    /// Stored at this time or later, in milliseconds since 1970.
    package var storedSince: UInt64?
    /// The first eight bytes of the digests that are meant: those of one origin.
    package var origin: UInt64?
    /// Whether a header is meant. The bytes are valid only during the call, which may come more than once for a record.
    package var header: (@Sendable (UnsafeRawBufferPointer) -> Bool)?

    /// All records, unless something is given.
    package init(
        storageClass: Class? = nil, storedSince: UInt64? = nil, origin: UInt64? = nil,
        header: (@Sendable (UnsafeRawBufferPointer) -> Bool)? = nil
    ) {
        self.storageClass = storageClass
        self.storedSince = storedSince
        self.origin = origin
        self.header = header
    }

    var meansAll: Bool { storageClass == nil && storedSince == nil && origin == nil && header == nil }

    func means(_ frame: RecordFrame) -> Bool {
        switch (storageClass, frame.storageClass) {
        case (nil, _), (.permanent, .permanent), (.anySession, .session): break
        case (.session(let wanted), .session(let found)): if wanted != found { return false }
        case (.permanent, .session), (.anySession, .permanent), (.session, .permanent): return false
        }
        if let storedSince, frame.stored < storedSince { return false }
        if let origin, frame.digest.words.0 != origin { return false }
        return header?(frame.header) ?? true
    }
}

/// A change of the cache: done on the store thread, together with others.
package enum CacheWrite: Sendable {
    /// Stores a response.
    case append(NewRecord)
    /// Gives a record another header, as after a validation, and counts that as a use.
    case replaceHeader(CacheUse, header: [UInt8], stored: UInt64)
    /// Removes one record.
    case remove(CacheUse)
    /// Removes one record that was found damaged, and the file of its body that a reader has open, where that is what
    /// was. What has come into the place of either meanwhile stays.
    case removeDamaged(CacheUse, BlobReader? = nil)
    /// Removes all records of a cache key's digest; with the time of an answer that makes them invalid, in milliseconds
    /// since 1970, what was asked for before that is not stored any more either.
    case removeAll(CacheDigest, answered: UInt64? = nil)
    /// Removes the records meant that are there when it begins, in as many transactions as that takes.
    case removeMatching(CacheFilter)
    /// Evicts down to the budget, in as many transactions as that takes.
    case evict

    /// Whether it takes as many transactions as there is to do.
    var isLong: Bool {
        switch self {
        case .removeMatching, .evict: true
        case .append, .replaceHeader, .remove, .removeDamaged, .removeAll: false
        }
    }

    /// Whether it makes room and takes none.
    var onlyRemoves: Bool {
        switch self {
        case .remove, .removeDamaged, .removeAll, .removeMatching, .evict: true
        case .append, .replaceHeader: false
        }
    }

    /// Whether it is kept when another process is in the way for long: what was stored under a key may be served no
    /// more (RFC 9111 §4.4), while a record that is not stored costs a fetch.
    var insists: Bool {
        switch self {
        case .removeAll, .removeMatching: true
        case .append, .replaceHeader, .remove, .removeDamaged, .evict: false
        }
    }
}

/// What became of a change. None of it is an error of a fetch.
package enum CacheOutcome: Equatable, Sendable {
    /// The record is there, under this sequence.
    case stored(UInt64)
    /// Nothing was stored or removed.
    case notDone(Reason)
    /// So many records are gone.
    case removed(Int)

    /// Why nothing was done.
    package enum Reason: Equatable, Sendable {
        /// The body has more than its share of the budget, or the header is beyond all measure.
        case tooLong
        /// The record that was to get another header is gone.
        case gone
        /// What is stored under its digest was made invalid after it was asked for.
        case overtaken
        /// More changes wait than the store takes on.
        case busy
        /// The store could not; `diskFull` among them.
        case failed(StoreError)
    }
}

extension CacheOutcome {
    /// Whether the disk had no room for the change.
    var isDiskFull: Bool {
        if case .notDone(.failed(.diskFull)) = self { return true }
        return false
    }
}
