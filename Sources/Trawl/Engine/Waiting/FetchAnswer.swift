/// What became of one fetch of a driver. Small, whatever the result is: its parts are shared.
package struct FetchAnswer: Sendable {
    /// The number the fetch was given when it was prepared.
    package let tag: UInt64
    /// Its one result.
    package let result: Result<Response, FetchError>
    /// How often it was tried, the last time included.
    package let attempts: Int
    /// Whether its request may have been sent: a worker has had it.
    package let mayHaveBeenSent: Bool

    init(tag: UInt64, result: Result<Response, FetchError>, attempts: Int, mayHaveBeenSent: Bool) {
        self.tag = tag
        self.result = result
        self.attempts = attempts
        self.mayHaveBeenSent = mayHaveBeenSent
    }
}
