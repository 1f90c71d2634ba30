import TrawlHTTP

/// What a program said about a redirect, checked.
enum RedirectAnswer: Sendable {
    case follow
    case replace(RedirectReplacement)
    case stop
    /// The fetch fails: cancelled by the program, which may also have failed itself, said nothing in time, or sent a
    /// request that makes no sense.
    case fail(FetchError)
}

extension RedirectAnswer {
    /// Asks a program.
    ///
    /// - Parameters:
    ///   - earlier: The hop that is redirected, and the one the fetch began with.
    ///   - limit: How long it may take.
    init(
        _ decisions: any FetchDecisions, _ proposal: RedirectProposal, after earlier: [EarlierHop],
        within limit: Duration, _ planner: FetchPlanner
    ) async {
        let answer = await ProgramAnswer.about("the redirect", proposal.url, within: limit) {
            try await decisions.redirect(proposal)
        }
        switch answer {
        case .failure(let error): self = .fail(error)
        case .success(.follow): self = .follow
        case .success(.stop): self = .stop
        case .success(.cancel): self = .fail(FetchError(.cancelled, "", url: proposal.url))
        case .success(.send(var request)):
            request.options = proposal.request.options
            do throws(FetchError) {
                let plan = try planner.plan(request, into: .memory, wantsEvents: false)
                self = .replace(RedirectReplacement(plan, insteadOf: proposal, after: earlier))
            } catch {
                self = .fail(error)
            }
        }
    }
}

/// Where a hop went and what it carried.
struct EarlierHop: Sendable {
    let target: TargetURI
    let fields: FieldLines
}

/// The hop that a program put in the place of a redirect's.
struct RedirectReplacement: Sendable {
    let target: TargetURI
    let method: Method
    let fields: FieldLines
    let body: FetchPlan.Body
    /// Whether the body of the hop before goes along.
    let keepsBody: Bool

    /// The fields that are bound to the origin they were sent to.
    private static let secrets = ["Authorization", "Proxy-Authorization", "Cookie"]

    /// - Parameters:
    ///   - request: The program's, as a plan.
    ///   - proposal: What it was asked about.
    ///   - earlier: The hop before, and the one the fetch began with: what they carried for another origin stays there.
    init(_ request: FetchPlan, insteadOf proposal: RedirectProposal, after earlier: [EarlierHop]) {
        target = request.target
        method = request.method
        keepsBody = request.body == .none && proposal.keepsBody && method.name == proposal.request.effectiveMethod.name
        body = request.body
        var fields = request.fields
        for hop in earlier where hop.target.origin != request.target.origin {
            for name in Self.secrets where hop.fields.values(name).contains(where: fields.values(name).contains) {
                fields.removeAll(name)
            }
        }
        self.fields = fields
    }

    /// The redirect as it is followed.
    func redirect(_ redirect: Redirect) -> Redirect {
        var redirect = redirect
        redirect.method = method
        redirect.keepsBody = keepsBody
        return redirect
    }
}

/// A decision about a redirect, kept until the hop is over: it may begin anew after its worker died. A class, since
/// few fetches have one.
final class DecidedRedirect: Sendable {
    let status: UInt16
    let location: String?
    let answer: RedirectAnswer

    init(status: UInt16, location: String?, answer: RedirectAnswer) {
        self.status = status
        self.location = location
        self.answer = answer
    }

    /// Whether it was about that response.
    func isAbout(_ head: TrawlHTTP.ResponseHead) -> Bool {
        head.status == status && head.fields.reference("Location") == location
    }
}

/// Something that a program is being asked while a fetch waits. A class, since few fetches have one.
final class OpenQuestion: Sendable {
    /// Unique for the life of the coordinator.
    let number: UInt64
    let askedAt: MonotonicInstant
    let about: Subject
    /// The one who asks, when it asks for this fetch alone.
    let task: Task<Void, Never>?

    init(number: UInt64, askedAt: MonotonicInstant, about: Subject, task: Task<Void, Never>? = nil) {
        self.number = number
        self.askedAt = askedAt
        self.about = about
        self.task = task
    }

    enum Subject: Sendable {
        /// A redirect, and the lease that rests at its head; nil when it is a stored one.
        case redirect(TrawlHTTP.ResponseHead, lease: UInt64?)
        /// A server's certificate.
        case trust
    }
}
