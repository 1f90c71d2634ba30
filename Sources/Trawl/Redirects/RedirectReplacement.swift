import TrawlHTTP

/// Where a hop went and what it carried.
struct EarlierHop: Sendable {
    let origin: Origin
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
        for hop in earlier where hop.origin != request.target.origin {
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
