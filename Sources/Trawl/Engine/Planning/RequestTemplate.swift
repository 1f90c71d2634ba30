import TrawlHTTP

/// A request whose every part but the URL is checked and planned: many fetches are made from one.
package final class RequestTemplate: Sendable {
    let method: Method
    let fields: FieldLines
    let body: FetchPlan.Body
    let terms: FetchTerms
    let fileOptions: Destination.FileOptions

    init(
        method: Method, fields: FieldLines, body: FetchPlan.Body, terms: FetchTerms,
        fileOptions: Destination.FileOptions
    ) {
        self.method = method
        self.fields = fields
        self.body = body
        self.terms = terms
        self.fileOptions = fileOptions
    }
}

/// A fetch that is checked and ready to be submitted with others.
package struct PreparedFetch: Sendable {
    let running: RunningFetch
}
