import TrawlHTTP

extension FetchPlanner {
    /// A request as it has to be made so that its download can be gone on with, when that is wanted.
    ///
    /// - Throws: ``FetchError/Code/badRequest`` for one that asks for a part itself, ``FetchError/Code/resumeData``.
    static func resumable(_ request: Request, into destination: Destination) throws(FetchError) -> Request {
        guard case .file(_, let options) = destination, options.isResumable else { return request }
        if let problem = options.resumeData?.problem { throw .resumeData(problem) }
        for name in ["Range", "If-Range"] where request.fields.lines.contains(name) {
            throw FetchError(.badRequest, "the field \(name) is that of a download that is gone on with")
        }
        var request = request
        // What has come is in the file, and nowhere else.
        request.options.caching.cache = .none
        return request
    }
}

extension Destination {
    /// Whether there is, or may be, resume data.
    var isResumable: Bool {
        if case .file(_, let options) = self { options.isResumable } else { false }
    }
}

extension Destination.FileOptions {
    /// Whether there is, or may be, resume data.
    var isResumable: Bool { keepsPart || resumeData != nil }
}

extension FetchError {
    /// Resume data is of no use.
    static func resumeData(_ reason: String) -> FetchError {
        FetchError(.resumeData, "the resume data cannot be used: \(reason)")
    }
}
