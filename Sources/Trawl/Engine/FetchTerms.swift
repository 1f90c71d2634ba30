import TrawlHTTP
import TrawlProtocol

/// How fetches are made: options and what follows from them, shared by all fetches that have the same.
///
/// Never changed once made, so that a fetch holds a reference and not a copy.
final class FetchTerms: Sendable {
    let options: RequestOptions
    /// What workers are told of the options.
    let profile: TransferProfile
    /// The limit of the whole fetch in nanoseconds; nil is none.
    let resourceLimit: UInt64?

    init(_ options: RequestOptions) {
        self.options = options
        profile = options.profile
        let limit = options.timeLimits.resource
        resourceLimit = limit > .zero ? UInt64(limit.clampedNanoseconds) : nil
    }
}
