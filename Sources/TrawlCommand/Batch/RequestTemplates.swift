import Trawl
import TrawlHTTP

/// The requests of a list as the library's values: most have everything but their URL in common, which is checked once.
///
/// Bound to one thread.
final class RequestTemplates {
    private let base: Request
    private let coordinator: Coordinator
    private let savesErrorBodies: Bool
    /// For requests that say nothing of their own: attempts that may be followed by another, and last ones.
    private let early: RequestTemplate
    private let last: RequestTemplate

    init(_ base: Request, on coordinator: Coordinator, savesErrorBodies: Bool) throws(CommandError) {
        self.base = base
        self.coordinator = coordinator
        self.savesErrorBodies = savesErrorBodies
        do throws(FetchError) {
            early = try coordinator.template(of: base, files: Self.files(savesErrorBodies: false))
            last = savesErrorBodies ? try coordinator.template(of: base, files: Self.files(savesErrorBodies: true)) : early
        } catch {
            throw CommandError(RunSupport.text(error))
        }
    }

    /// The template of a request of the list.
    ///
    /// - Parameter isLastAttempt: Only then may the body of an error become a file: otherwise there may be a better one.
    func template(for request: ListedRequest, isLastAttempt: Bool) throws(FetchError) -> RequestTemplate {
        guard let own = request.own else { return isLastAttempt ? last : early }
        return try coordinator.template(
            of: base.changed(by: own), files: Self.files(savesErrorBodies: savesErrorBodies && isLastAttempt))
    }

    private static func files(savesErrorBodies: Bool) -> Destination.FileOptions {
        var files = Destination.FileOptions()
        files.createsEmptyFile = true
        files.savesErrorBodies = savesErrorBodies
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
        }
        if let body = listed.body {
            request.body = .bytes(body)
            if request.method == nil { request.method = .post }
            // The user's word counts, as in curl.
            request.options.allowsBodyOnGET = true
        }
        if let follows = listed.follows { request.options.redirects.mode = follows ? .standard : .manual }
        if let limit = listed.maxRedirects { request.options.redirects.limit = limit }
        if let timeout = listed.timeout { request.options.timeLimits.resource = timeout }
        return request
    }
}
