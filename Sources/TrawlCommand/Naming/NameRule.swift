import TrawlHTTP

/// How files are named where the list does not say.
enum NameRule: Sendable, Equatable {
    /// Host, path and query.
    case url
    /// `-O`: the last part of the path.
    case lastPart
    /// `-o`: a pattern.
    case template(NameTemplate)

    /// The path beneath the output directory.
    /// - Throws: When the line lacks what the pattern wants.
    func path(for target: TargetURI, line: Int, id: RequestID?) throws(BadLine) -> String {
        switch self {
        case .url: URLPath.path(of: target)
        case .lastPart: FileName.ofURL(target.text)
        case .template(let template): try template.path(for: target, line: line, id: id)
        }
    }
}
