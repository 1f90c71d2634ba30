import TrawlHTTP

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
