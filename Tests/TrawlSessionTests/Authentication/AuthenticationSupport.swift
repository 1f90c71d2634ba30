import Testing
import TrawlHTTP

@testable import TrawlSession

let plainOrigin = Origin(scheme: "http", host: "a.example", port: 80)
let secureOrigin = Origin(scheme: "https", host: "a.example", port: 443)

extension TargetURI {
    /// A path, with a query perhaps, at an origin.
    static func at(_ path: String, _ origin: Origin = secureOrigin) -> TargetURI {
        let start = "\(origin.scheme)://\(origin.host)\(origin.explicitPort.map { ":\($0)" } ?? "")"
        let mark = path.utf8.firstIndex(of: UInt8(ascii: "?"))
        let query = mark.map { start.utf8.count + path.utf8.distance(from: path.utf8.startIndex, to: $0) }
        return TargetURI(origin: origin, text: start + path, pathStart: start.utf8.count, queryStart: query)
    }
}

extension FieldLines {
    /// Lines of one name.
    init(_ name: String, _ values: String...) throws {
        self.init()
        for value in values { try append(name, value) }
    }
}

extension ChallengeList {
    /// The challenges of a server in these field values.
    init(_ values: String..., limits: ChallengeLimits = ChallengeLimits()) throws {
        var fields = FieldLines()
        for value in values { try fields.append("WWW-Authenticate", value) }
        self.init(fields, from: .server, limits: limits)
    }
}

extension [UInt8] {
    /// As text, one character for each byte beyond ASCII.
    var shown: String { withUnsafeBytes(FieldLines.text) }
}

extension String {
    var raw: [UInt8] { Array(utf8) }
}

extension Challenge {
    /// All of it in one line, to compare.
    var line: String {
        let rest = token.map { [$0.shown] } ?? parameters.map { "\($0.name)=<\($0.value.shown)>" }
        return ([name] + rest).joined(separator: " ")
    }
}

extension DigestChallenge {
    /// The one challenge of Digest in a field value.
    init(text: String) throws {
        let challenge = try #require(try ChallengeList(text).challenges.first)
        self = try #require(DigestChallenge(challenge))
    }
}
