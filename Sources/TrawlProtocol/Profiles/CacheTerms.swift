package import TrawlHTTP

/// Which cache, and what a caller wants of it: what many leases have in common.
///
/// The rules are `TrawlCache`'s; to the protocol these are numbers.
package struct CacheTerms: Sendable, Hashable {
    /// The store directory; it is absolute.
    package var directory: String
    /// Bytes the cache may take there.
    package var budget: UInt64
    /// The combinable choices of the policy.
    package var options: UInt8 = 0
    /// What caches on the way are told: 0 nothing, 1 to validate, 2 to load anew.
    package var reload: UInt8 = 0
    /// Whether what server and request say about storing and reuse counts.
    package var respectsCacheControl = true
    /// Whether a response without an explicit lifetime gets one from its `Last-Modified`.
    package var usesHeuristics = true
    /// Whether what is stored stands in for a load that failed even where the response forbids it.
    package var forcesFallback = false
    /// Whether a body is left on the way when its strong entity tag says that it is the stored one.
    package var stopsAtEqualTag = false
    /// Seconds for which responses count as fresh, whatever they say; below zero they are stale at once.
    package var lifetime: Int64?
    /// The session whose end takes what is stored with it; nil stores permanently.
    package var session: SessionID?

    /// The terms of a cache in that directory, by the rules of RFC 9111.
    package init(directory: String, budget: UInt64) {
        self.directory = directory
        self.budget = budget
    }

    func write(to writer: inout WireWriter) {
        writer.write(directory)
        writer.write(budget)
        writer.write(options)
        writer.write(reload)
        writer.write(flags)
        if let lifetime { writer.write(UInt64(bitPattern: lifetime)) }
        if let session {
            writer.write(session.first)
            writer.write(session.last)
        }
    }

    init(from reader: inout WireReader) throws(FrameError) {
        directory = try reader.text()
        guard directory.utf8.first == UInt8(ascii: "/"), !directory.utf8.contains(0) else { throw .invalid(.path) }
        budget = try reader.uint64()
        options = try reader.byte()
        reload = try reader.byte()
        guard reload <= 2 else { throw .invalid(.cache) }
        let flags = try reader.byte()
        guard flags & ~0x3F == 0 else { throw .reservedBits }
        respectsCacheControl = flags & 1 != 0
        usesHeuristics = flags & 2 != 0
        forcesFallback = flags & 16 != 0
        stopsAtEqualTag = flags & 32 != 0
        if flags & 4 != 0 { lifetime = Int64(bitPattern: try reader.uint64()) }
        if flags & 8 != 0 { session = SessionID(try reader.uint64(), try reader.uint64()) }
    }

    private var flags: UInt8 {
        (respectsCacheControl ? 1 : 0) | (usesHeuristics ? 2 : 0) | (lifetime != nil ? 4 : 0) | (session != nil ? 8 : 0)
            | (forcesFallback ? 16 : 0) | (stopsAtEqualTag ? 32 : 0)
    }
}
