import TrawlHTTP

/// A redirect that is about to be followed, for a program to decide about.
public struct RedirectProposal: Sendable {
    /// The head of the redirecting response.
    public let response: Response.ResponseHead
    /// What was asked for in the hop that is redirected, without user information.
    public let url: String
    /// How many redirects were followed before.
    public let count: Int
    /// The request that follows otherwise, checked and allowed: without its body, and without what is bound to the
    /// origin when this redirect leads to another one, or one before it has. Such are fields, and of the options the
    /// credential, cookies by hand, the client certificate and, for another host, verification that is not full.
    public let request: Request
    /// Whether the body goes along.
    public let keepsBody: Bool

    /// The proposal that a redirect of a hop comes to.
    ///
    /// - Parameters:
    ///   - here: The hop's target, and its fields.
    ///   - hasBody: Whether it had a body.
    ///   - options: Those that hold for the next hop.
    init(
        _ redirect: Redirect, to target: TargetURI, _ head: TrawlHTTP.ResponseHead, from here: TargetURI,
        _ fields: FieldLines, count: Int, hasBody: Bool, _ options: RequestOptions
    ) {
        response = Response.ResponseHead(head)
        url = here.text
        self.count = count
        let next = redirect.fields(
            from: fields, at: here.origin, to: target.origin, repeatsCookies: options.cookies.repeatsManual)
        request = Request(
            Request.Method(redirect.method.name), target.textWithFragment, fields: Fields(next), options: options)
        keepsBody = redirect.keepsBody && hasBody
    }
}

/// What becomes of a redirect.
public enum RedirectChoice: Sendable, Hashable {
    /// It is followed as proposed.
    case follow
    /// This request takes the place of the proposed one, and is checked as one that a caller gave: its URL may lead
    /// anywhere that the fetch may go, from `https` to `http` too, which only a server may not ask for
    /// (``RequestOptions/Redirects/allowsDowngrade``). Its options are those of the fetch. When it has no body and the
    /// method of the proposal, the body goes along as proposed.
    ///
    /// `Authorization`, `Proxy-Authorization` and `Cookie` of the request before are left out when it is for another
    /// origin; others are sent.
    case send(Request)
    /// It is not followed: the response is the answer, with its body.
    case stop
    /// The fetch fails with ``FetchError/Code/cancelled``.
    case cancel
}
