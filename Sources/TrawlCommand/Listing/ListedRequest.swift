import TrawlHTTP

/// A request as a line of a list, or of `pipe`'s input, describes it.
struct ListedRequest: Sendable, Equatable {
    /// As written; a plain line's URL has got its scheme.
    var url: String
    /// What the answer is to be called.
    var id: RequestID?
    var method: String?
    var headers = FieldLines()
    var body: [UInt8]?
    /// The file wanted: relative, and not leading out of the output directory.
    var out: String?
    /// Whether redirects are followed.
    var follows: Bool?
    var maxRedirects: Int?
    /// For the whole exchange; greater than zero.
    var timeout: Duration?
    /// What a second run knows the request by.
    let key: RequestKey

    /// A plain line's request.
    init(url: String, out: String?) {
        self.url = url
        self.out = out
        key = RequestKey(url: url, out: out)
    }

    /// A request whose line has been read; the rest is filled in by the caller.
    init(url: String, id: RequestID?, key: RequestKey) {
        self.url = url
        self.id = id
        self.key = key
    }
}

/// The id of a request: a JSON string or number, kept as written, so that it is echoed byte for byte.
struct RequestID: Sendable, Hashable {
    /// Its JSON text.
    let json: [UInt8]

    /// The text for names and messages: a string's content, a number's digits.
    var text: String {
        json.withUnsafeBytes { bytes in
            guard bytes.first == UInt8(ascii: "\""), let content = JSONText.string(bytes) else {
                return String(decoding: bytes, as: UTF8.self)
            }
            return content
        }
    }
}

/// A line that asks for nothing that could be done.
struct BadLine: Error, Sendable, Equatable {
    /// Why, for a person. It may hold bytes of the line.
    var reason: String
    /// The line's id, when it could be read.
    var id: RequestID?
}
