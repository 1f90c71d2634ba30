import Trawl

/// What has come of heads in the latest attempt of a fetch.
struct SeenHeads: Sendable {
    /// The last one: the answer's, a redirect's or a challenge's.
    private(set) var head: Response.ResponseHead?
    /// Whether that is the answer's.
    private(set) var hasAnswer = false
    /// The bytes of all of them, interim ones included.
    private(set) var length = 0
    /// The statuses of the redirects that were followed.
    private(set) var redirects: [Int] = []

    /// Something happened to the fetch.
    mutating func note(_ event: FetchEvent) {
        switch event {
        case .interim(let head):
            length += HeadText.bytes(head).count
        case .authenticating(_, let head):
            take(head)
        case .redirected(let hop):
            redirects.append(hop.status)
            take(hop.head)
        case .head(let head):
            hasAnswer = true
            take(head)
        case .retrying:
            self = SeenHeads()
        case .ended(.success(let response)):
            // No event had it; a generated one did not come.
            if !hasAnswer, response.source != .generated { take(response.head) }
        case .started, .attempt, .forwarded, .waitingForConnectivity, .resumedAtOffset, .data, .progress, .ended:
            break
        }
    }

    /// The head of a response that the fetch fails in spite of; it may have come as that of the answer.
    mutating func noteRefused(_ head: Response.ResponseHead) {
        if !hasAnswer { take(head) }
    }

    private mutating func take(_ head: Response.ResponseHead) {
        self.head = head
        length += HeadText.bytes(head).count
    }
}
