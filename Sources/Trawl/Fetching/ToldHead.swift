/// Which head of an answer its reader has been told.
///
/// Where a worker dies after the head and the request is made again, the head comes again: it is no news, unless its
/// status is another.
struct ToldHead: Sendable {
    private var status: Int?

    /// Nothing has been told.
    init() {}

    /// Whether a reader is told of an event.
    mutating func isNews(_ event: FetchEvent) -> Bool {
        switch event {
        case .head(let head):
            guard head.status != status else { return false }
            status = head.status
        // What was told before was not the answer's.
        case .retrying, .redirected: status = nil
        case .started, .attempt, .forwarded, .interim, .authenticating, .waitingForConnectivity, .resumedAtOffset,
            .data, .progress, .ended:
            break
        }
        return true
    }
}
