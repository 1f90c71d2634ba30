import TrawlCache
import TrawlHTTP

/// What is known of the part of a body that has come, so that the next hop can go on behind it.
///
/// Bound to the supervisor thread.
final class ResumablePart {
    /// How the rest is asked for; nil while nothing has come that can be gone on with.
    var resumption: Resumption?
    /// The bytes the hop in flight goes on behind; 0 when it asked for the whole.
    var offset: UInt64 = 0
    /// Whether the response of this hop is of no use, and the whole is asked for next.
    var asksAgain = false
    /// Whether the caller wants what has come kept when the fetch is over, as a file and resume data.
    let outlivesFetch: Bool

    // What hops left that were given up.
    /// The head of the response that the first part is of, and the answer with it.
    var head: TrawlHTTP.ResponseHead?
    /// The bytes, where a worker's file holds them.
    var file: PassedFile?
    /// How many bytes are where nobody can take them back, or were counted and dropped.
    var passed: UInt64 = 0

    /// For a fetch that was suspended.
    init(outlivesFetch: Bool = false) { self.outlivesFetch = outlivesFetch }

    /// That of a new fetch; nil when its body need not be gone on with by another one.
    static func beginning(_ plan: borrowing FetchPlan) -> ResumablePart? {
        guard case .opened = plan.sink, plan.fileOptions.isResumable else { return nil }
        let part = ResumablePart(outlivesFetch: true)
        if let data = plan.fileOptions.resumeData {
            part.resumption = Resumption(validator: data.validator, total: data.length)
        }
        return part
    }

    /// Whether the head of a response has to be looked at before its body is taken.
    var looksAtHead: Bool { outlivesFetch || offset > 0 }

    /// Whether a head that goes on with the part is none for the caller, who has seen that of the whole.
    func hides(_ head: TrawlHTTP.ResponseHead) -> Bool { offset > 0 && self.head != nil && head.status == 206 }

    /// A hop was given up.
    ///
    /// - Parameters:
    ///   - head: That of its response, if it came.
    ///   - kept: Bytes of the body of this hop that reached their place; with a file, all that are in it.
    func brokeOff(_ head: TrawlHTTP.ResponseHead?, to method: Method, kept: UInt64, _ file: PassedFile?, now: WallTime)
    {
        switch head?.status {
        case 206 where offset > 0 && !asksAgain:
            if let file { self.file = file }
            passed = passed.addingClamping(kept)
        case 200:
            resumption = head.flatMap { Resumption($0, to: method, now: now) }
            self.head = head
            self.file = file
            passed = kept
        // What cannot be gone on with: a reader who has been given some of it has it all the same.
        case _ where offset == 0 && kept > 0:
            startAnew()
            passed = kept
        // Nothing has come, or something in place of the rest: what was there stays.
        default: break
        }
    }

    /// How much of the body is there, for a body that goes there.
    func reach(in sink: FetchPlan.Target) -> UInt64 {
        switch sink {
        case .opened(let destination) where !destination.isPaced: destination.length
        case .memory, .rooted: file?.length ?? 0
        case .stream, .discard, .opened: passed
        }
    }

    /// Nothing of what has come is of use.
    func startAnew() {
        resumption = nil
        head = nil
        file = nil
        passed = 0
    }
}
