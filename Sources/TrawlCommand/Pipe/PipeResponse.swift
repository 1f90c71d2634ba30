import Trawl
import TrawlHTTP
import TrawlJSON

/// The answer to one line of input, to become one line of output.
struct PipeResponse: Sendable {
    /// Nil when there was none, or it could not be read.
    let id: RequestID?
    /// The URL that was asked for; nil when it could not be read or holds credentials.
    let url: String?
    let result: Result<Response, PipeFailure>
    /// About how many bytes it takes while it waits.
    let load: Int

    /// - Parameter mayHaveBeenSent: Whether the request may have been sent.
    init(_ id: RequestID?, url: String?, _ result: Result<Response, FetchError>, mayHaveBeenSent: Bool) {
        switch result {
        case .success(let response):
            self.init(id, response.url, .success(response), load: 2048 + Self.weight(response))
        case .failure(let error):
            let failure = PipeFailure(error, mayHaveBeenSent: mayHaveBeenSent)
            self.init(id, error.url ?? url, .failure(failure), load: 1024)
        }
    }

    /// - Parameter load: That of the result.
    private init(_ id: RequestID?, _ url: String?, _ result: Result<Response, PipeFailure>, load: Int) {
        self.id = id
        self.url = url
        self.result = result
        // Both are as long as a program likes: a line of its own may hold nothing else.
        self.load = load + (id?.json.count ?? 0) + (url?.utf8.count ?? 0)
    }

    /// Body, heads and the way there.
    private static func weight(_ response: Response) -> Int {
        let way = response.redirects.reduce(0) { $0 + $1.url.utf8.count }
        let heads = response.interim + response.redirects.map(\.head)
        let fields = heads.reduce(response.fields.byteCount + response.trailers.byteCount) { $0 + $1.fields.byteCount }
        return response.body.count + fields + way + 256 * heads.count
    }

    /// The answer to a request that was not made.
    init(_ id: RequestID?, url: String?, badRequest reason: String) {
        self.init(id, url, .failure(PipeFailure(badRequest: reason)), load: 1024)
    }

    /// Appends the line up to the body's value, which is its last: a large one is written in pieces.
    ///
    /// All members are always there but those that say more than a plain answer needs.
    func writeStart(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.key("id")
        if let id { id.json.withUnsafeBytes { writer.raw($0) } } else { writer.null() }
        writer.key("url")
        if let url { writer.string(url) } else { writer.null() }
        switch result {
        case .success(let response): Self.write(response, to: &writer)
        case .failure(let failure):
            writer.key("status")
            writer.null()
            writer.key("reason")
            writer.string("")
            writer.key("headers")
            writer.beginArray()
            writer.endArray()
            writer.key("from_cache")
            writer.bool(false)
            writer.key("error")
            failure.write(to: &writer)
        }
        writer.key("body_base64")
    }

    private static func write(_ response: Response, to writer: inout JSONWriter) {
        writer.key("status")
        writer.integer(response.status)
        writer.key("reason")
        writer.string(response.head.reason)
        writer.key("headers")
        write(response.fields, to: &writer)
        writer.key("from_cache")
        writer.bool(response.isFromCache)
        if response.source == .revalidated {
            writer.key("validated")
            writer.bool(true)
        }
        writer.key("error")
        writer.null()
        if !response.interim.isEmpty {
            writer.key("interim")
            writer.beginArray()
            for head in response.interim {
                writer.beginArray()
                writer.integer(head.status)
                write(head.fields, to: &writer)
                writer.endArray()
            }
            writer.endArray()
        }
        if !response.redirects.isEmpty {
            writer.key("redirects")
            writer.beginArray()
            for hop in response.redirects {
                writer.beginArray()
                writer.string(hop.url)
                writer.integer(hop.status)
                writer.endArray()
            }
            writer.endArray()
        }
        if !response.trailers.isEmpty {
            writer.key("trailers")
            write(response.trailers, to: &writer)
        }
    }

    /// A pair for each line, in order, one character for each byte.
    private static func write(_ fields: Fields, to writer: inout JSONWriter) {
        writer.beginArray()
        fields.lines.forEach { name, value in
            writer.beginArray()
            writer.latin1(name)
            writer.latin1(value)
            writer.endArray()
        }
        writer.endArray()
    }
}
