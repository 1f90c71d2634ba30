import Trawl
import TrawlHTTP

/// The requests of a list as the library's values: most have everything but their URL in common, which is checked once.
///
/// Bound to one thread.
final class RequestTemplates {
    private let base: Request
    private let coordinator: Coordinator
    private let dropsErrorBodies: Bool
    private let dropsPassingErrors: Bool
    private let namesFromHeads: Bool
    /// For requests that say nothing of their own.
    private let plain: RequestTemplate

    /// - Parameters:
    ///   - dropsErrorBodies: Whether bodies of responses of 400 or more are dropped.
    ///   - dropsPassingErrors: Whether those of failures that may pass are.
    ///   - namesFromHeads: Whether responses name their files.
    init(
        _ base: Request, on coordinator: Coordinator, dropsErrorBodies: Bool, dropsPassingErrors: Bool = false,
        namesFromHeads: Bool = false
    ) throws(CommandError) {
        self.base = base
        self.coordinator = coordinator
        self.dropsErrorBodies = dropsErrorBodies
        self.dropsPassingErrors = dropsPassingErrors
        self.namesFromHeads = namesFromHeads
        do throws(FetchError) {
            plain = try coordinator.template(
                of: base,
                files: Self.files(
                    for: base, dropsErrorBodies: dropsErrorBodies, dropsPassingErrors: dropsPassingErrors,
                    namesFromHeads: namesFromHeads))
        } catch {
            throw CommandError(FailureText.of(error))
        }
    }

    /// The template of a request of the list.
    ///
    /// - Parameters:
    ///   - own: What its line says beside the URL.
    ///   - isNamed: Whether its line names its file.
    func template(for own: ListedRequest.OwnTerms?, isNamed: Bool = false) throws(FetchError) -> RequestTemplate {
        // A name of the line's own is the name.
        let isNamed = namesFromHeads && isNamed
        if own == nil && !isNamed { return plain }
        let whole = own.map(base.changed) ?? base
        return try coordinator.template(
            of: whole,
            files: Self.files(
                for: whole, dropsErrorBodies: dropsErrorBodies, dropsPassingErrors: dropsPassingErrors,
                namesFromHeads: namesFromHeads && !isNamed),
            sharingBodyOf: own?.body == nil ? plain : nil)
    }

    /// The target of a request of the list, checked as one that says nothing of its own; nil when it is no such target.
    func target(of request: ListedRequest) -> TargetURI? {
        try? coordinator.target(of: request.url, plain)
    }

    /// A request of the list as the library's value, but for its URL.
    func request(of listed: ListedRequest) -> Request { listed.own.map(base.changed) ?? base }

    private static func files(
        for request: Request, dropsErrorBodies: Bool, dropsPassingErrors: Bool, namesFromHeads: Bool
    ) -> Destination.FileOptions {
        var files = Destination.FileOptions()
        // What has no body by its method (RFC 9110 §9.3.2) is no empty file either.
        files.createsEmptyFile = request.effectiveMethod != .head
        // Others than those of 2xx and of redirects that are followed are bodies like any.
        files.savesErrorBodies = true
        files.dropsErrorBodies = dropsErrorBodies
        files.dropsPassingErrors = dropsPassingErrors
        files.namesFromDisposition = namesFromHeads
        return files
    }
}

extension Request {
    /// This request with what a line says in addition.
    func changed(by listed: ListedRequest.OwnTerms) -> Request {
        var request = self
        if let method = listed.method { request.method = Method(method) }
        if !listed.headers.isEmpty {
            // A line's field takes the place of the run's of that name.
            listed.headers.forEach { name, _ in request.fields[FieldLines.text(name)] = nil }
            request.fields.add(listed.headers)
            // As a line of -H does: no cookie is sent twice.
            if listed.headers.contains("Cookie") { request.options.cookies.manual = [] }
        }
        if let body = listed.body {
            // The line's word takes the place of the run's body; an empty one says that there is none.
            request.body = body.isEmpty ? .none : .bytes(body)
            if !body.isEmpty {
                // A line is no form: without -X, or -d, which is POST, its method is GET whatever it sends.
                if request.method == nil { request.method = .get }
                // The user's word counts, as in curl.
                request.options.allowsBodyOnGET = true
            }
        }
        if let follows = listed.follows { request.options.redirects.mode = follows ? .standard : .manual }
        if let limit = listed.maxRedirects { request.options.redirects.limit = limit }
        if let timeout = listed.timeout { request.options.timeLimits.exchange = timeout }
        if let mode = listed.cacheMode { request.cachePolicy = mode.policy }
        if let credential = listed.credential {
            request.options.authentication.credential = credential
            // Where that field is by hand nobody who asks gets an answer.
            if !listed.headers.contains("Authorization") { request.fields["Authorization"] = nil }
        }
        return request
    }
}
