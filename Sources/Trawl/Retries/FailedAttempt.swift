/// An attempt after which another one is made.
public struct FailedAttempt: Sendable, Hashable {
    /// Which one it was: 1 is the first.
    public let number: Int
    /// The status of its response; nil when there was none.
    public let status: Int?
    /// Why there was no usable response; nil when there was one.
    public let error: FetchError?
    /// The wait before the next one.
    public let delay: Duration
}
