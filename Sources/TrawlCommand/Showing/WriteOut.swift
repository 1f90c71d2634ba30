import Trawl
import TrawlHTTP

/// What `-w` prints after a fetch: text with `%{variables}`, of which the names are curl's.
struct WriteOut: Equatable, Sendable {
    enum Piece: Equatable, Sendable {
        case text(String)
        case variable(Variable)
        case field(String)
        case switchToError
        case switchToOutput
        /// What follows is for fetches that failed.
        case onlyOnError
    }

    enum Variable: String, CaseIterable, Sendable {
        case contentType = "content_type"
        case errorMessage = "errormsg"
        case exitCode = "exitcode"
        case fileName = "filename_effective"
        case httpCode = "http_code"
        case responseCode = "response_code"
        case httpVersion = "http_version"
        case method
        case numberOfConnects = "num_connects"
        case numberOfFields = "num_headers"
        case numberOfRedirects = "num_redirects"
        case redirectURL = "redirect_url"
        case referer
        case remoteAddress = "remote_ip"
        case remotePort = "remote_port"
        case scheme
        case sizeDownload = "size_download"
        case sizeHeader = "size_header"
        case sizeRequest = "size_request"
        case sizeUpload = "size_upload"
        case source
        case speedDownload = "speed_download"
        case speedUpload = "speed_upload"
        case timeAppConnect = "time_appconnect"
        case timeConnect = "time_connect"
        case timeNameLookup = "time_namelookup"
        case timePretransfer = "time_pretransfer"
        case timeRedirect = "time_redirect"
        case timeStartTransfer = "time_starttransfer"
        case timeTotal = "time_total"
        case url
        case urlEffective = "url_effective"
    }

    private(set) var pieces: [Piece] = []
    /// Variables that there are none of, as they are written; nothing is printed for them, as in curl.
    private(set) var unknown: [String] = []

    /// Reads a format.
    init(_ format: String) {
        var text = ""
        var rest = Array(format.unicodeScalars)[...]
        func flush(_ pieces: inout [Piece]) {
            if !text.isEmpty { pieces.append(.text(text)) }
            text = ""
        }
        while let scalar = rest.popFirst() {
            if scalar == "\\", let next = rest.popFirst() {
                // As in curl, a pair that means nothing stands for itself, one of backslashes too.
                if Self.escapes[next] == nil { text.unicodeScalars.append(scalar) }
                text.unicodeScalars.append(Self.escapes[next] ?? next)
            } else if scalar == "%", rest.first == "%" {
                rest = rest.dropFirst()
                text += "%"
            } else if scalar == "%", rest.first == "{", let end = rest.firstIndex(of: "}") {
                let name = Self.string(rest[..<end].dropFirst())
                rest = rest[rest.index(after: end)...]
                flush(&pieces)
                if let piece = Self.variable(name) { pieces.append(piece) } else { unknown.append(name) }
            } else if scalar == "%", Self.string(rest.prefix(7)) == "header{", let end = rest.firstIndex(of: "}") {
                let name = Self.string(rest[..<end].dropFirst(7))
                rest = rest[rest.index(after: end)...]
                flush(&pieces)
                pieces.append(.field(name))
            } else {
                text.unicodeScalars.append(scalar)
            }
        }
        flush(&pieces)
    }

    /// What is for standard output and what for standard error.
    ///
    /// - Parameter escapes: Whether what came from others is made safe for the terminal there. Elsewhere it is data,
    ///   and keeps its bytes.
    func bytes(
        _ values: WriteOutValues, escapes: (output: Bool, error: Bool) = (false, false)
    ) -> (output: [UInt8], error: [UInt8]) {
        var output: [UInt8] = []
        var error: [UInt8] = []
        var toError = false
        for piece in pieces {
            var bytes: [UInt8]
            switch piece {
            case .text(let literal):
                if toError { error += literal.utf8 } else { output += literal.utf8 }
                continue
            case .variable(.contentType): bytes = values.field("Content-Type")
            case .variable(let variable): bytes = Array(values.text(variable).utf8)
            case .field(let name): bytes = values.field(name)
            case .switchToError:
                toError = true
                continue
            case .switchToOutput:
                toError = false
                continue
            case .onlyOnError:
                if values.exitCode == 0 { return (output, error) }
                continue
            }
            if toError ? escapes.error : escapes.output {
                let text = bytes.withUnsafeBytes { FieldLines.text($0) }
                bytes = Array(text.terminalSafe.utf8)
            }
            if toError { error += bytes } else { output += bytes }
        }
        return (output, error)
    }

    private static let escapes: [Unicode.Scalar: Unicode.Scalar] = ["n": "\n", "r": "\r", "t": "\t"]

    /// What a name stands for, whatever its case, as in curl; nil when that is nothing.
    private static func variable(_ name: String) -> Piece? {
        switch name.lowercased() {
        case "stderr": .switchToError
        case "stdout": .switchToOutput
        case "onerror": .onlyOnError
        case let name: Variable(rawValue: name).map { .variable($0) }
        }
    }

    private static func string(_ scalars: some Sequence<Unicode.Scalar>) -> String {
        var view = String.UnicodeScalarView()
        view.append(contentsOf: scalars)
        return String(view)
    }
}
