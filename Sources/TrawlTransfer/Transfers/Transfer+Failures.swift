import CTrawlCurl
import Glibc
import TrawlCoding
import TrawlHTTP
import TrawlPlatform
import TrawlProtocol

/// What goes wrong, in the words of the protocol.
extension Transfer {
    /// What libcurl says of the transfer's end; empty when that is nothing.
    var errorText: String { String(cString: easy.errorBuffer) }

    /// Why a transfer failed, when it did.
    func describe(_ result: CURLcode) -> HopFailure {
        var failure: HopFailure
        if let known = self.failure {
            failure = known
        } else {
            var text = errorText
            let kind = CurlFailure.kind(result, text, easy: easy.raw, hasHead: head != nil)
            if text.isEmpty { text = String(cString: curl_easy_strerror(result)) }
            // libcurl keeps that of the last call of a socket that failed, such as of an address before the one that
            // was connected to: it is the reason only where no connection was made, to the server or to its proxy.
            var error = 0
            if result == CURLE_COULDNT_CONNECT { _ = ccurl_get_long(easy.raw, CURLINFO_OS_ERRNO, &error) }
            failure = HopFailure(
                kind, curlCode: result.rawValue, systemError: Int32(truncatingIfNeeded: error), detail: text)
            if CurlFailure.isLackOfThread(result, text) { Self.lackThread(&failure) }
            if let ofProxy = proxyFailure(insteadOf: failure, result) { return ofProxy }
            // No server's fault.
            if result == CURLE_COULDNT_CONNECT, error == 0, connections.openFailure != 0 {
                failure.systemError = connections.openFailure
                failure.detail = "\(SystemError(errno: failure.systemError, call: "socket"))"
            }
            // libcurl says no more, whichever it is.
            if result == CURLE_SSL_CERTPROBLEM, text.hasPrefix("unable to set private key file") {
                failure.detail += ": it has another form or passphrase, or belongs to another certificate"
            }
            // What is no HTTP/1 response at all is HTTP/0.9 to libcurl, which does not speak it.
            let isTLSFailure = kind == .tlsHandshake || kind == .connectionLost
            if isTLSFailure,
                let alert = CurlFailure.alert(in: text, sentCertificate: profile.profile.tls.identity != nil)
            {
                failure.kind = alert
            }
            if result == CURLE_HTTP2_STREAM, CurlFailure.isStreamGivenUp(text) {
                failure.kind = head == nil ? .connectionLost : .truncated
            }
            if kind == .unsupportedScheme, requestsBegun > 0 { failure.kind = .malformedResponse }
            // Field lines that are none: white space before the first one, a CR before the colon.
            if result == CURLE_BAD_FUNCTION_ARGUMENT, requestsBegun > 0 {
                failure.kind = .malformedResponse
                failure.detail = "a line of the head is no field line"
            }
            // 7.88 reports a field line of more than 100 KiB as lack of memory, and so a request of more than 1 MiB.
            if kind == .outOfMemory, requestsBegun > 0, head == nil {
                failure.kind = isRequestTooLong ? .malformedRequest : .headTooLarge
                failure.detail =
                    isRequestTooLong
                    ? "the head of the request is longer than 1 MiB" : "a field line is longer than 100 KiB"
            }
            // A head of more than 300 KiB, as of 7.88.1 with later corrections, has no code of its own either.
            if result == CURLE_RECV_ERROR, head == nil, text.hasPrefix("Too large response headers") {
                failure.kind = .headTooLarge
            }
            // Nor has a line of a trailer section of more than 4 KiB.
            if result == CURLE_RECV_ERROR, text.hasPrefix("Out of memory in chunked-encoding") {
                failure.kind = .headTooLarge
                failure.detail = "a line of the trailer section is longer than 4 KiB"
            }
        }
        failure.requestSent = mayHaveBeenSent
        return failure
    }

    /// Nobody was asked for the name: that says nothing about it, nor about its host.
    private static func lackThread(_ failure: inout HopFailure) {
        if failure.kind == .hostNotFound { failure.kind = .cannotConnect }
        failure.systemError = EAGAIN
        failure.detail = "\(SystemError(errno: EAGAIN, call: "pthread_create"))"
    }

    /// Whether the request is about as long as libcurl can make it, or longer. The coordinator refuses most of them, but
    /// not those that a redirect or the cache makes so long.
    private var isRequestTooLong: Bool {
        var length = lease.url.utf8.count + lease.fields.packed.count
        if case .inline(let bytes) = lease.body { length += bytes.count }
        return length + (8 << 10) >= WireProtocol.maximumRequestHead
    }

    /// What a body that cannot be decoded means.
    static func failure(_ error: DecodingError) -> HopFailure {
        switch error {
        case .tooManyLayers(let limit): HopFailure(.decoding, detail: "more than \(limit) content codings")
        case .stackedBrotli: HopFailure(.decoding, detail: "br is applied to br")
        case .corrupt(let coding, let reason): HopFailure(.decoding, detail: "\(coding.name): \(reason)")
        case .truncated(let coding): HopFailure(.decoding, detail: "the \(coding.name) data has no end")
        case .tooLarge(let limit): HopFailure(.bodyTooLarge, detail: "more than \(limit) bytes decoded")
        case .ratioTooHigh(let limit): HopFailure(.decoding, detail: "unfolds more than \(limit) times")
        case .outOfMemory: HopFailure(.outOfMemory)
        case .tooMuchMemory(let limit):
            HopFailure(.decoding, detail: "bodies in br have \(limit) bytes of memory already")
        case .refused: HopFailure(.internalError)
        }
    }
}
