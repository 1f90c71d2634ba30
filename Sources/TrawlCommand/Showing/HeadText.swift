import Trawl
import TrawlHTTP

/// Heads of messages as text.
enum HeadText {
    /// Status line, field lines and the empty line, as they stood on the wire.
    static func bytes(_ head: Response.ResponseHead) -> [UInt8] {
        var bytes = Array("\(head.version) \(head.status)".utf8)
        let reason = head.reasonBytes
        if !reason.isEmpty { bytes += [0x20] + reason }
        bytes += [0x0D, 0x0A]
        bytes += self.bytes(head.fields)
        bytes += [0x0D, 0x0A]
        return bytes
    }

    /// Field lines, as they stood on the wire.
    static func bytes(_ fields: Fields) -> [UInt8] {
        var bytes: [UInt8] = []
        fields.lines.forEach { name, value in
            bytes += name
            bytes += [0x3A, 0x20]
            bytes += value
            bytes += [0x0D, 0x0A]
        }
        return bytes
    }

    /// The head in lines that are safe on a terminal.
    ///
    /// - Parameter prefix: Stands before every line, the empty one at the end included.
    static func lines(_ head: Response.ResponseHead, prefix: String) -> String {
        prefix + statusLine(head).terminalSafe + "\n" + lines(head.fields, prefix: prefix) + prefix + "\n"
    }

    /// Field lines that are safe on a terminal.
    static func lines(_ fields: Fields, prefix: String) -> String {
        var text = ""
        for (name, value) in fields.all { text += "\(prefix)\(name.terminalSafe): \(value.terminalSafe)\n" }
        return text
    }

    /// What is sent, in lines that are safe on a terminal. Secrets are not shown.
    static func lines(_ request: SentRequest, version: String, prefix: String) -> String {
        let target = request.target
        let path = target.query.map { "\(target.path)?\($0)" } ?? target.path
        var text = "\(prefix)\(request.method.name) \(path.terminalSafe) \(version)\n"
        if !request.fields.contains("Host") { text += "\(prefix)Host: \(authority(target).terminalSafe)\n" }
        request.fields.forEach { name, value in
            // Without a value it is not sent, and keeps another from being.
            if value.isEmpty, FieldSyntax.equalIgnoringCase(name, "Expect") { return }
            let name = FieldLines.text(name)
            let isSecret = SecretFields.contains(name)
            text += "\(prefix)\(name): \(isSecret ? "[not shown]" : FieldLines.text(value).terminalSafe)\n"
        }
        if let length = request.bodyLength { text += "\(prefix)Content-Length: \(length)\n" }
        return text + prefix + "\n"
    }

    /// What the cache had to do with a response, in a line; nil when that is nothing.
    static func line(_ source: Response.Source) -> String? {
        switch source {
        case .cache: "* From the cache: nothing was sent for it\n"
        case .stale: "* From the cache: stale, or the server did not answer\n"
        case .revalidated: "* From the cache: the server, asked with conditions, said that it is still right\n"
        case .network, .generated: nil
        }
    }

    /// How a challenge is answered, in a line that is safe on a terminal.
    static func lines(_ report: AuthenticationReport) -> String {
        let realm = report.realm.map { " for \"\($0.terminalSafe)\"" } ?? ""
        return "* \(report.scheme)\(realm), answered with credentials from: \(report.source.rawValue)\n"
    }

    /// Why another attempt follows, in a line that is safe on a terminal.
    static func lines(_ attempt: FailedAttempt) -> String {
        let reason = attempt.status.map { "status \($0)" } ?? attempt.error.map { FailureText.of($0) } ?? ""
        return "* Attempt \(attempt.number): \(reason); the next one in \(attempt.delay)\n"
    }

    private static func statusLine(_ head: Response.ResponseHead) -> String {
        "\(head.version) \(head.status)\(head.reason.isEmpty ? "" : " " + head.reason)"
    }

    private static func authority(_ target: TargetURI) -> String {
        let start = target.text.dropFirst(target.origin.scheme.count + 3)
        return String(start.prefix { $0 != "/" && $0 != "?" })
    }
}
