import Trawl

/// What a batch says of single requests on standard error.
struct BatchMessages {
    /// Failures told one by one when the results file has them all.
    private static let mostTold = 100

    private let console: Console
    private let source: RequestSource
    private let hasResults: Bool
    private var count = 0

    init(_ console: Console, _ source: RequestSource, hasResults: Bool) {
        self.console = console
        self.source = source
        self.hasResults = hasResults
    }

    /// A request failed.
    mutating func failed(_ fetch: FetchInFlight, _ message: String) {
        failed(line: fetch.line, "\(fetch.request.shownURL.terminalSafe): \(message)")
    }

    /// A line of the list is no request, or its request failed.
    mutating func failed(line: Int, _ message: String) {
        count += 1
        if !hasResults || count <= Self.mostTold {
            console.failure(source.place(line) + message)
        } else if count == Self.mostTold + 1 {
            // Wherever failures are told: whoever counts them is to know.
            console.failure("more failures are told in the results alone")
        }
    }

    /// Something about a request that a person may want to know.
    func note(_ fetch: FetchInFlight, _ message: String) {
        console.note("\(source.place(fetch.line))\(fetch.request.shownURL.terminalSafe): \(message)")
    }
}
