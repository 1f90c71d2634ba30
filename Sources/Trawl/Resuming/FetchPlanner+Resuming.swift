import TrawlHTTP
import TrawlURL

extension FetchPlanner {
    /// The URL at which a download goes on: that of its data, which have no user, with the user of the request that is
    /// made again, where that is for the same origin (ASI-AUTH-01).
    static func url(of data: ResumeData, for request: Request) -> String {
        let parser = URLParser()
        guard let given = try? parser.parse(request.url), let user = given.user,
            let known = try? parser.parse(data.url), known.user == nil, known.origin == given.origin
        else { return data.url }
        func encoded(_ text: String) -> String { PercentEncoding.text(of: text.utf8) { _ in true } }
        let password = given.password.map { ":" + encoded($0) } ?? ""
        let rest = known.textWithFragment.dropFirst(known.scheme.count + 3)
        return "\(known.scheme)://\(encoded(user))\(password)@\(rest)"
    }

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
