import Trawl
import TrawlHTTP
import TrawlSession

/// A request as a line of a list, or of `pipe`'s input, describes it.
struct ListedRequest: Sendable, Equatable {
    /// As written; a plain line's URL has got its scheme.
    let url: String
    /// What the answer is to be called.
    let id: RequestID?
    /// The file wanted: relative, and not leading out of the output directory.
    let out: String?
    /// What it says beside; nil for most.
    let own: OwnTerms?
    /// What a second run knows the request by; zero in `pipe`.
    let key: RequestKey

    /// A plain line's request.
    init(url: String, out: String?) {
        self.init(url: url, id: nil, out: out, own: nil, key: RequestKey(url: url, out: out))
    }

    init(url: String, id: RequestID?, out: String?, own: OwnTerms?, key: RequestKey) {
        self.url = url
        self.id = id
        self.out = out
        self.own = own
        self.key = key
    }

    /// The URL as it may be shown and kept.
    var shownURL: String { UserInformation.removed(fromURL: url) }

    /// About how many bytes of memory what it says takes.
    var byteCount: Int { url.utf8.count + (id?.json.count ?? 0) + (out?.utf8.count ?? 0) + (own?.byteCount ?? 0) }

    /// What it is known by, without the rest.
    var withoutTerms: ListedRequest { ListedRequest(url: url, id: id, out: out, own: nil, key: key) }
}

extension ListedRequest {
    /// What few lines say. A class, so that the many others are copied in a moment.
    final class OwnTerms: Sendable, Equatable {
        let method: String?
        let headers: FieldLines
        let body: [UInt8]?
        /// Whether redirects are followed.
        let follows: Bool?
        let maxRedirects: Int?
        /// For the whole exchange; greater than zero.
        let timeout: Duration?
        /// What may answer from the cache.
        let cacheMode: CacheMode?
        /// Who it is made as, when the server asks.
        let credential: Credential?

        /// - Returns: Nil when there is nothing to say.
        init?(
            method: String?, headers: FieldLines, body: [UInt8]?, follows: Bool?, maxRedirects: Int?,
            timeout: Duration?, cacheMode: CacheMode? = nil, credential: Credential? = nil
        ) {
            if method == nil, headers.isEmpty, body == nil, follows == nil, maxRedirects == nil, timeout == nil,
                cacheMode == nil, credential == nil
            {
                return nil
            }
            self.method = method
            self.headers = headers
            self.body = body
            self.follows = follows
            self.maxRedirects = maxRedirects
            self.timeout = timeout
            self.cacheMode = cacheMode
            self.credential = credential
        }

        /// About how many bytes of memory it takes.
        var byteCount: Int {
            (method?.utf8.count ?? 0) + headers.packed.count + (body?.count ?? 0) + (credential?.credentials.size ?? 0)
        }

        static func == (left: OwnTerms, right: OwnTerms) -> Bool {
            left.method == right.method && left.headers == right.headers && left.body == right.body
                && left.follows == right.follows && left.maxRedirects == right.maxRedirects
                && left.timeout == right.timeout && left.cacheMode == right.cacheMode
                && left.credential == right.credential
        }
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
    /// The URL it names, when that could be read, without user information.
    var url: String?
}
