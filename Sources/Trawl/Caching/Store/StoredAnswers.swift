import TrawlCache
import TrawlHTTP
import TrawlStore

/// Responses made of what is stored, on whatever thread asks.
enum StoredAnswers {
    /// The longest body that is read where it is asked for: those inside records.
    static let longestBody = UInt64(BodySpool.longestInline)

    /// What a fetch has come to: the answer's parts beside the head and body.
    struct Frame {
        let originalURL: String
        let target: TargetURI
        let redirects: [Response.RedirectHop]
        let metrics: HopReports
        /// Interim heads that servers sent on the way here.
        var interim: [Response.ResponseHead] = []
        /// What came after the body, where the last hop had to do with the server.
        var trailers: Fields = [:]
        /// Who the request was made as, had it been sent.
        var authentication: AuthenticationReport?
        /// The same towards the proxy, where it was sent.
        var proxyAuthentication: AuthenticationReport?
        /// Attempts that failed before.
        var retryCount = 0
    }

    /// A response whose body, if it has one, is at hand.
    static func response(to hit: StoredHit, _ frame: Frame, _ options: RequestOptions) -> Result<Response, FetchError> {
        var bytes: [UInt8] = []
        // No store has a file for so short a body (`BodySpool`), so one that is at hand is in memory.
        if case .bytes(let stored)? = hit.body {
            bytes =
                hit.range == 0..<UInt64(stored.count)
                ? stored : Array(stored[Int(hit.range.lowerBound)..<Int(hit.range.upperBound)])
        }
        return response(hit.head, bytes, Response.Source(hit.reuse.source), frame, options)
    }

    /// A response of its head and its body, content codings still on.
    static func response(
        _ head: TrawlHTTP.ResponseHead, _ bytes: [UInt8], _ source: Response.Source, _ frame: Frame,
        _ options: RequestOptions
    ) -> Result<Response, FetchError> {
        let limits = options.sizeLimits
        let codings = options.contentDecoding == .off ? [] : head.codingsToUndo
        var body = ResponseBody(.bytes(bytes), codings: codings, limits: limits)
        if options.contentDecoding == .streaming, !codings.isEmpty {
            do throws(FetchError) {
                body = try body.decodedStorage()
            } catch {
                return .failure(FetchError(.decoding, error.detail, url: frame.target.text))
            }
        }
        if let limit = limits.bodyBytes, UInt64(body.count) > limit {
            return .failure(FetchError(.tooLarge, "more than \(limit) bytes", url: frame.target.text))
        }
        return .success(
            Response(
                Response.Content(
                    head: head, body: body, file: nil, url: frame.target.textWithFragment,
                    originalURL: frame.originalURL, redirects: frame.redirects, interim: frame.interim,
                    trailers: frame.trailers, receivedLength: UInt64(body.count), source: source,
                    metrics: frame.metrics, defaultCharset: options.defaultCharset,
                    authentication: frame.authentication, proxyAuthentication: frame.proxyAuthentication,
                    retryCount: frame.retryCount)))
    }

    /// What is answered when nothing is stored and nothing may be sent.
    ///
    /// - Source: RFC 9111 §5.2.1.7.
    static func nothing(_ frame: Frame, _ options: RequestOptions) -> Result<Response, FetchError> {
        if options.caching.failsWhenNotCached {
            return .failure(FetchError(.notCached, "nothing is stored that could answer", url: frame.target.text))
        }
        let head = TrawlHTTP.ResponseHead(
            status: 504, version: .http1_1, reason: "Gateway Timeout", fields: FieldLines())
        return .success(
            Response(
                Response.Content(
                    head: head, body: .empty, file: nil, url: frame.target.textWithFragment,
                    originalURL: frame.originalURL, redirects: frame.redirects, interim: [], trailers: [:],
                    receivedLength: 0, source: .generated, metrics: frame.metrics,
                    defaultCharset: options.defaultCharset, retryCount: frame.retryCount)))
    }
}

extension Response.Source {
    /// The public form.
    init(_ source: ResultSource) {
        self =
            switch source {
            case .network: .network
            case .cache: .cache
            case .revalidated: .revalidated
            case .stale: .stale
            }
    }
}
