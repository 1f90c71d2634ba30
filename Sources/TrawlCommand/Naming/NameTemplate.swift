import Trawl
import TrawlHTTP

/// File names made after a pattern of the user's: `{host}/{name}`, `page-{line}.html`.
///
/// Known are `{host}`, `{path}` (with the query, may hold slashes), `{name}` (the path's last part), `{line}` and
/// `{id}`; `{{` and `}}` stand for braces. Whatever is filled in is made safe, so the result stays inside.
struct NameTemplate: Sendable, Equatable {
    private enum Piece: Sendable, Equatable {
        case text(String)
        case host, path, name, line, id
    }

    private let pieces: [Piece]

    /// - Throws: What is wrong with the pattern, for the user.
    init(_ pattern: String) throws(CommandError) {
        var pieces: [Piece] = []
        var text = ""
        var rest = pattern.unicodeScalars[...]
        while let scalar = rest.popFirst() {
            switch scalar {
            case "{" where rest.first == "{", "}" where rest.first == "}":
                rest.removeFirst()
                text.unicodeScalars.append(scalar)
            case "{":
                guard let end = rest.firstIndex(of: "}") else { throw Self.wrong("a } is missing") }
                let word = String(rest[..<end])
                rest = rest[rest.index(after: end)...]
                guard let piece = Self.piece(word) else {
                    throw Self.wrong(
                        "{\(word.terminalSafe)} is not known; there are {host}, {path}, {name}, {line}, {id}")
                }
                if !text.isEmpty { pieces.append(.text(text)) }
                text = ""
                pieces.append(piece)
            case "}": throw Self.wrong("a } stands alone; write }} for a brace")
            case "\0": throw Self.wrong("it holds a NUL")
            default: text.unicodeScalars.append(scalar)
            }
        }
        if !text.isEmpty { pieces.append(.text(text)) }
        self.pieces = pieces
        // What is filled in is never empty, `.` or `..` and has no slash at an end.
        guard LocalPath.staysInside(joined { _ in "x" }) else {
            throw Self.wrong("it must be relative and stay inside the output directory")
        }
    }

    /// Whether every line must have an id.
    var needsID: Bool { pieces.contains(.id) }

    /// The path for one request.
    ///
    /// - Throws: When the line has no id and the pattern wants one, or an empty one.
    func path(for target: TargetURI, line: Int, id: RequestID?) throws(BadLine) -> String {
        if needsID, id == nil { throw BadLine(reason: "the output name wants an {id}, and the line has none") }
        let path = joined { piece in
            switch piece {
            case .text(let text): text
            case .host: URLPath.host(of: target.origin)
            case .path: URLPath.rest(of: target)
            case .name: URLPath.name(of: target)
            case .line: String(line)
            case .id: URLPath.piece(id?.text ?? "")
            }
        }
        let limited = URLPath.limited(path)
        guard LocalPath.staysInside(limited) else {
            throw BadLine(reason: "no file can be named after the id", id: id)
        }
        return limited
    }

    private func joined(_ fill: (Piece) -> String) -> String {
        var path = ""
        for piece in pieces {
            if case .text(let text) = piece { path += text } else { path += fill(piece) }
        }
        return path
    }

    private static func piece(_ word: String) -> Piece? {
        switch word {
        case "host": .host
        case "path": .path
        case "name": .name
        case "line": .line
        case "id": .id
        default: nil
        }
    }

    private static func wrong(_ reason: String) -> CommandError {
        CommandError("the output name: \(reason)", status: ExitStatus.usage)
    }
}
