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
            // For the checks alone: the fetch goes on with those it has.
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
