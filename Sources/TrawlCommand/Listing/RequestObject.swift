import Trawl
import TrawlHTTP
import TrawlJSON

/// Reads a request written as a JSON object.
///
/// Members it does not know are refused, so that a misspelt option is never dropped in silence; so are members given
/// twice. `null` stands for a member that is not there. An error in what a member means does not keep the id from being
/// found behind it.
struct RequestObject {
    private enum Member: Int {
        case id, url, method, headers, body, bodyBase64, redirect, maxRedirects, timeout, out
        case cachePolicy, auth
    }

    private let form: RequestLine.Form
    private let directory: String?
    private var seen: UInt32 = 0
    private var id: RequestID?
    /// The first thing that is wrong with what is asked for.
    private var fault: String?

    private var url: String?
    private var method: String?
    private var headers = FieldLines()
    private var body: [UInt8]?
    private var follows: Bool?
    private var maxRedirects: Int?
    private var timeout: Duration?
    private var out: String?
    private var cacheMode: CacheMode?
    private var credential: Credential?
    /// Where the line holds secrets, and what its key is made of in their place.
    private var secrets: [(place: Range<Int>, rest: String)] = []

    init(_ form: RequestLine.Form, beneath directory: String? = nil) {
        self.form = form
        self.directory = directory
    }

    /// Reads a line that starts with `{`.
    mutating func read(_ line: UnsafeRawBufferPointer) -> RequestLine {
        do throws(JSONError) {
            var reader = try JSONReader(line)
            try reader.beginObject()
            while let name = try reader.nextMember() { try readMember(name, &reader) }
            try reader.finish()
        } catch {
            // What was wrong first is said first.
            return .bad(BadLine(reason: fault ?? error.description, id: id, url: shownURL))
        }
        if fault == nil, url == nil { fault = "url is missing" }
        if let fault { return .bad(BadLine(reason: fault, id: id, url: shownURL)) }
        return .request(
            ListedRequest(
                url: url ?? "", id: id, out: out,
                own: ListedRequest.OwnTerms(
                    method: method, headers: headers, body: body, follows: follows, maxRedirects: maxRedirects,
                    timeout: timeout, cacheMode: cacheMode, credential: credential),
                key: key(line)))
    }

    /// A line with credentials in it is known by what is no secret: a digest of a password can be guessed from.
    private func key(_ line: UnsafeRawBufferPointer) -> RequestKey {
        // No run goes on with another's there, and lines are as long as the bodies in them.
        if form == .pipe { return RequestKey(bits: 0) }
        if let id { return RequestKey(id: id) }
        return secrets.isEmpty ? RequestKey(line: line) : RequestKey(line: line, without: secrets)
    }

    /// For a line that is refused.
    private var shownURL: String? { url.map(UserInformation.removed(fromURL:)) }

    private mutating func readMember(_ name: JSONString, _ reader: inout JSONReader) throws(JSONError) {
        guard let member = member(name, reader) else {
            let word = (try? reader.text(of: name)) ?? "?"
            complain("\(Self.quoted(word)) is not known here")
            _ = try reader.skipValue()
            return
        }
        let bit: UInt32 = 1 << UInt32(member.rawValue)
        if seen & bit != 0 {
            complain("\(Self.name(member)) is given twice")
            _ = try reader.skipValue()
            return
        }
        seen |= bit
        if try reader.peek() == .null {
            try reader.readNull()
            return
        }
        switch member {
        case .id: try readID(&reader)
        case .url: try readURL(&reader)
        case .method: try readMethod(&reader)
        case .headers: try readHeaders(&reader)
        case .body: try readBody(&reader)
        case .bodyBase64: try readBodyBase64(&reader)
        case .redirect: try readRedirect(&reader)
        case .maxRedirects: try readMaxRedirects(&reader)
        case .timeout: try readTimeout(&reader)
        case .out: try readOut(&reader)
        case .cachePolicy: try readCachePolicy(&reader)
        case .auth: try readAuthentication(&reader)
        }
    }

    // MARK: Members

    private func member(_ name: JSONString, _ reader: JSONReader) -> Member? {
        if reader.isEqual(name, "url") { return .url }
        if reader.isEqual(name, "id") { return .id }
        if reader.isEqual(name, "method") { return .method }
        if reader.isEqual(name, "headers") { return .headers }
        if reader.isEqual(name, "body") { return .body }
        if reader.isEqual(name, "body_base64") { return .bodyBase64 }
        if reader.isEqual(name, "redirect") { return .redirect }
        if reader.isEqual(name, "max_redirects") { return .maxRedirects }
        if reader.isEqual(name, "timeout") { return .timeout }
        if reader.isEqual(name, "out"), form == .list { return .out }
        if reader.isEqual(name, "cache_policy") { return .cachePolicy }
        if reader.isEqual(name, "auth") { return .auth }
        return nil
    }

    private static func name(_ member: Member) -> String {
        switch member {
        case .id: "id"
        case .url: "url"
        case .method: "method"
        case .headers: "headers"
        case .body: "body"
        case .bodyBase64: "body_base64"
        case .redirect: "redirect"
        case .maxRedirects: "max_redirects"
        case .timeout: "timeout"
        case .out: "out"
        case .cachePolicy: "cache_policy"
        case .auth: "auth"
        }
    }

    private mutating func readID(_ reader: inout JSONReader) throws(JSONError) {
        let kind = try reader.peek()
        let json = try reader.skipValue()
        guard kind == .string || kind == .number else { return complain("id must be a string or a number") }
        id = RequestID(json: Array(json))
    }

    private mutating func readURL(_ reader: inout JSONReader) throws(JSONError) {
        guard let string = try string(.url, &reader), let written = text(of: string, .url, reader) else { return }
        let text = Self.trimmed(written)
        if text.isEmpty { complain("url is empty") }
        url = text
        if let user = UserInformation.user(inURL: text) {
            secrets.append((string.place, "\(user)\0\(UserInformation.removed(fromURL: text))"))
        }
    }

    /// A URL without the spaces and control characters around it (URL Standard, basic URL parser).
    private static func trimmed(_ url: String) -> String {
        let rest = url.utf8.drop { $0 <= 0x20 }
        guard let end = rest.lastIndex(where: { $0 > 0x20 }) else { return "" }
        return String(decoding: rest[...end], as: UTF8.self)
    }

    private mutating func readMethod(_ reader: inout JSONReader) throws(JSONError) {
        guard let text = try text(.method, &reader) else { return }
        if Method(text) == nil { complain("method is not a token") }
        method = text
    }

    private mutating func readHeaders(_ reader: inout JSONReader) throws(JSONError) {
        let shape = "headers must be an array of [name, value]"
        guard try reader.peek() == .array else {
            _ = try reader.skipValue()
            return complain(shape)
        }
        try reader.beginArray()
        var name: [UInt8] = []
        var value: [UInt8] = []
        while try reader.nextElement() {
            guard try reader.peek() == .array else {
                _ = try reader.skipValue()
                complain(shape)
                continue
            }
            try reader.beginArray()
            var strings: [JSONString] = []
            var isPair = true
            while try reader.nextElement() {
                if try reader.peek() == .string, strings.count < 2 {
                    strings.append(try reader.readString())
                } else {
                    _ = try reader.skipValue()
                    isPair = false
                }
            }
            guard isPair, strings.count == 2 else {
                complain(shape)
                continue
            }
            name.removeAll(keepingCapacity: true)
            value.removeAll(keepingCapacity: true)
            do throws(JSONError) {
                try reader.appendUTF8(of: strings[0], to: &name)
                try reader.appendLatin1(of: strings[1], to: &value)
            } catch {
                complain("headers: \(error)")
                continue
            }
            if SecretFields.contains(String(decoding: name, as: UTF8.self)) { secrets.append((strings[1].place, "")) }
            append(name, value)
        }
    }

    private mutating func readBody(_ reader: inout JSONReader) throws(JSONError) {
        guard let string = try string(.body, &reader) else { return }
        var bytes: [UInt8] = []
        guard complainsNot(.body, { () throws(JSONError) in try reader.appendUTF8(of: string, to: &bytes) })
        else { return }
        setBody(bytes)
    }

    private mutating func readBodyBase64(_ reader: inout JSONReader) throws(JSONError) {
        guard let string = try string(.bodyBase64, &reader) else { return }
        var bytes: [UInt8] = []
        guard complainsNot(.bodyBase64, { () throws(JSONError) in bytes = try reader.base64(of: string) })
        else { return }
        setBody(bytes)
    }

    private mutating func readRedirect(_ reader: inout JSONReader) throws(JSONError) {
        guard let string = try string(.redirect, &reader) else { return }
        if reader.isEqual(string, "follow") {
            follows = true
        } else if reader.isEqual(string, "manual") {
            follows = false
        } else {
            complain("redirect must be follow or manual")
        }
    }

    private mutating func readMaxRedirects(_ reader: inout JSONReader) throws(JSONError) {
        guard let number = try number(.maxRedirects, &reader) else { return }
        let count = number.double
        guard count >= 0, count == count.rounded() else {
            return complain("max_redirects must be a whole number from 0 on")
        }
        // More than the most of `--max-redirs` mean that: those that were followed are kept until the answer.
        maxRedirects = Int(min(count, Double(RedirectCount.range.upperBound)))
    }

    private mutating func readTimeout(_ reader: inout JSONReader) throws(JSONError) {
        guard let number = try number(.timeout, &reader) else { return }
        timeout = Self.duration(number.double)
        if timeout == nil { complain("timeout must be a number of seconds above 0") }
    }

    private mutating func readOut(_ reader: inout JSONReader) throws(JSONError) {
        guard let given = try text(.out, &reader) else { return }
        let text = LocalPath.relative(given, to: directory)
        let fault = text.utf8.contains(0) ? .leadsOut : LocalPath.nameFault(of: text)
        if let fault { complain("out: \(RequestLine.reason(fault))") }
        out = text
    }

    private mutating func readCachePolicy(_ reader: inout JSONReader) throws(JSONError) {
        guard let text = try text(.cachePolicy, &reader) else { return }
        cacheMode = CacheMode(rawValue: text)
        if cacheMode == nil { complain("cache_policy must be one of \(CacheMode.names)") }
    }

    private mutating func readAuthentication(_ reader: inout JSONReader) throws(JSONError) {
        let shape = "auth must be an object with username and password"
        guard try reader.peek() == .object else {
            _ = try reader.skipValue()
            return complain(shape)
        }
        try reader.beginObject()
        var user: String?
        var password: String?
        while let name = try reader.nextMember() {
            let isUser = reader.isEqual(name, "username")
            guard isUser || reader.isEqual(name, "password"), try reader.peek() == .string,
                (isUser ? user : password) == nil
            else {
                _ = try reader.skipValue()
                complain(shape)
                continue
            }
            guard let string = try string(.auth, &reader), let text = text(of: string, .auth, reader) else { continue }
            if isUser {
                user = text
            } else {
                password = text
                secrets.append((string.place, ""))
            }
        }
        guard let user, let password else { return complain(shape) }
        credential = Credential(user: user, password: password)
    }

    private mutating func append(_ name: [UInt8], _ value: [UInt8]) {
        let refusal: FieldLines.Refusal? = name.withUnsafeBytes { name in
            value.withUnsafeBytes { value in
                do throws(FieldLines.Refusal) {
                    try headers.append(name: name, value: value)
                    return nil
                } catch {
                    return error
                }
            }
        }
        let word = Self.quoted(FieldSyntax.shown(refused: name))
        switch refusal {
        case nil: break
        case .name: complain("headers: \(word) is not the name of a field")
        case .value: complain("headers: the value of \(word) holds CR, LF or NUL")
        }
    }

    private mutating func setBody(_ bytes: [UInt8]) {
        if body != nil { complain("body and body_base64 exclude each other") }
        body = bytes
    }

    // MARK: Values

    /// A string, or a complaint.
    private mutating func string(_ member: Member, _ reader: inout JSONReader) throws(JSONError) -> JSONString? {
        if try reader.peek() == .string { return try reader.readString() }
        _ = try reader.skipValue()
        complain("\(Self.name(member)) must be a string")
        return nil
    }

    private mutating func text(_ member: Member, _ reader: inout JSONReader) throws(JSONError) -> String? {
        guard let string = try string(member, &reader) else { return nil }
        return text(of: string, member, reader)
    }

    /// What a string stands for, or a complaint.
    private mutating func text(of string: JSONString, _ member: Member, _ reader: JSONReader) -> String? {
        var text: String?
        _ = complainsNot(member) { () throws(JSONError) in text = try reader.text(of: string) }
        return text
    }

    private mutating func number(_ member: Member, _ reader: inout JSONReader) throws(JSONError) -> JSONNumber? {
        if try reader.peek() == .number { return try reader.readNumber() }
        _ = try reader.skipValue()
        complain("\(Self.name(member)) must be a number")
        return nil
    }

    private static func duration(_ seconds: Double) -> Duration? {
        guard seconds > 0 else { return nil }
        // More than the most of `-m` mean that.
        guard seconds < SecondsArgument.most / .seconds(1) else { return SecondsArgument.most }
        // To nanoseconds, which messages tell: 2.9 has a nearest number that is less.
        return max(.nanoseconds(Int64((seconds * 1e9).rounded())), .nanoseconds(1))
    }

    private mutating func complainsNot(_ member: Member, _ body: () throws(JSONError) -> Void) -> Bool {
        do throws(JSONError) {
            try body()
            return true
        } catch {
            complain("\(Self.name(member)): \(error)")
            return false
        }
    }

    private mutating func complain(_ reason: String) {
        if fault == nil { fault = reason }
    }

    /// A word of the line, cut short where it is long.
    private static func quoted(_ word: String) -> String {
        word.unicodeScalars.count > 60
            ? "\"\(String(String.UnicodeScalarView(word.unicodeScalars.prefix(60))))…\"" : "\"\(word)\""
    }
}
