package import TrawlCache
package import TrawlHTTP

/// A stored response as lists show it: everything but the body.
package struct StoredListing: Sendable {
    /// Which record it is.
    package let use: CacheUse
    /// What is stored, but for the body.
    package let response: StoredResponse
    /// Bytes of the stored body.
    package let bodyLength: UInt64
    /// When it was stored.
    package let stored: WallTime
    /// Whether it goes with the session of the coordinator that stored it.
    package let isOfSession: Bool

    /// The URL it is stored under.
    package var url: String { response.key.text }

    /// Nil when the record's header is not what a header must be.
    init?(_ listing: CacheListing) {
        let response = listing.header.withUnsafeBytes { header in
            (try? StoredView(header)).flatMap { try? StoredResponse($0) }
        }
        guard let response, response.facts.body.length == listing.bodyLength,
            CacheDigest(of: response.key) == listing.use.digest
        else { return nil }
        use = listing.use
        self.response = response
        bodyLength = listing.bodyLength
        stored = WallTime(milliseconds: Int64(clamping: listing.stored))
        isOfSession = listing.storageClass != .permanent
    }
}

extension ResponseStore {
    /// Visits stored responses in the order of storing.
    ///
    /// A few are read at a time, so that neither memory nor the time of a snapshot grows with the store. What is stored
    /// meanwhile may be seen, and what is stored anew may be seen twice. Damaged records are left out.
    ///
    /// - Parameters:
    ///   - pageSize: Records read in one snapshot.
    ///   - body: Returns whether to go on. No snapshot is open while it runs.
    package func forEach<Failure: Error>(
        pageSize: Int = 256, failure: (StoreError) -> Failure, _ body: (StoredListing) throws(Failure) -> Bool
    ) throws(Failure) {
        var position: UInt64 = 0
        while true {
            let page: [CacheListing]
            do throws(StoreError) {
                page = try cache.list(after: position, limit: pageSize)
            } catch {
                throw failure(error)
            }
            for listing in page {
                guard let response = StoredListing(listing) else { continue }
                let goesOn = try body(response)
                if !goesOn { return }
            }
            guard page.count == pageSize, let last = page.last else { return }
            position = last.use.sequence
        }
    }
}
