import TrawlCache
import TrawlHTTP

/// What is known of the part of a body that is in a file, so that the next hop can go on behind it.
///
/// Bound to the supervisor thread.
final class ResumablePart {
    /// How the rest is asked for; nil while nothing has come that can be gone on with.
    var resumption: Resumption?
    /// The bytes the hop in flight goes on behind; 0 when it asked for the whole.
    var offset: UInt64 = 0
    /// Whether the response of this hop is of no use, and the whole is asked for next.
    var asksAgain = false

    /// For a new fetch; nil when its body cannot, or need not, be gone on with.
    init?(_ plan: borrowing FetchPlan) {
        guard plan.fileOptions.isResumable, case .opened = plan.sink else { return nil }
        if let data = plan.fileOptions.resumeData {
            resumption = Resumption(validator: data.validator, total: data.length)
        }
    }
}
