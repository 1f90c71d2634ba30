import TrawlSession

/// Digests of the body that a fetch sends: made once for each hash, since the server says how often they are asked for,
/// and the supervisor makes them.
struct BodyDigests {
    /// The body they are of; the decision about a redirect may bring another.
    private var body = FetchPlan.Body.none
    private var known: [DigestAlgorithm.Hash: [UInt8]] = [:]

    /// The digest of a body.
    ///
    /// - Parameter make: Makes it; nil when the body cannot be read now.
    mutating func digest(
        of body: FetchPlan.Body, by hash: DigestAlgorithm.Hash, _ make: () -> [UInt8]?
    ) -> [UInt8]? {
        if body != self.body {
            self.body = body
            known = [:]
        }
        if let digest = known[hash] { return digest }
        let digest = make()
        known[hash] = digest
        return digest
    }
}
