package import TrawlHTTP
package import TrawlProtocol

/// An answer, or its beginning, made of a stored response.
package struct StoredAnswer {
    /// The head of the answer.
    package var head: ResponseHead
    /// Its body, or the beginning of it.
    package var body: any StoredBytes
    /// What the end of the lease says.
    package var report: CacheReport
    /// What is written when the answer has ended well.
    package var keeper: (any BodyKeeper)?

    /// An answer of its parts.
    package init(head: ResponseHead, body: any StoredBytes, report: CacheReport, keeper: (any BodyKeeper)? = nil) {
        self.head = head
        self.body = body
        self.report = report
        self.keeper = keeper
    }
}
