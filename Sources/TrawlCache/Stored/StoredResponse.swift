package import TrawlHTTP

/// What is stored beside the body of a response.
package struct StoredResponse: Sendable, Hashable {
    /// What it is found by.
    package var key: CacheKey
    /// Status, version, reason and the fields that may be stored, without `Age`.
    package var head: ResponseHead
    /// The request fields that select it.
    package var selecting: SelectingFields
    /// What a hit needs to know.
    package var facts: StoredFacts
    /// The lifetime the request that stored it gave, in seconds from arrival.
    package var secondsToCache: Int64?
    /// Bytes of the program's own, carried and never read here.
    package var metadata: [UInt8]

    /// A stored response of its parts.
    package init(
        key: CacheKey, head: ResponseHead, selecting: SelectingFields, facts: StoredFacts, secondsToCache: Int64? = nil,
        metadata: [UInt8] = []
    ) {
        self.key = key
        self.head = head
        self.selecting = selecting
        self.facts = facts
        self.secondsToCache = secondsToCache
        self.metadata = metadata
    }
}

/// Why bytes are not a record.
package enum RecordError: Error, Sendable, Hashable {
    /// The bytes end too early.
    case truncated
    /// The format's version is not known.
    case version
    /// A value is not possible.
    case invalid
}
