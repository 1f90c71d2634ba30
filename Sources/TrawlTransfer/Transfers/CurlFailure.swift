import CTrawlCurl
import Glibc
import TrawlProtocol

/// What libcurl's result codes mean here.
enum CurlFailure {
    /// - Parameters:
    ///   - code: Not `CURLE_OK`.
    ///   - text: What libcurl says of it.
    ///   - hasHead: Whether a final head is complete.
    static func kind(
        _ code: CURLcode, _ text: @autoclosure () -> String, easy: UnsafeMutableRawPointer, hasHead: Bool
    ) -> HopFailure.Kind {
        switch code {
        case CURLE_UNSUPPORTED_PROTOCOL: .unsupportedScheme
        case CURLE_URL_MALFORMAT: .malformedRequest
        case CURLE_COULDNT_RESOLVE_HOST: .hostNotFound
        case CURLE_COULDNT_RESOLVE_PROXY, CURLE_PROXY: .proxy
        case CURLE_COULDNT_CONNECT, CURLE_INTERFACE_FAILED: .cannotConnect
        // The only timeout libcurl is told of is that of connecting.
        case CURLE_OPERATION_TIMEDOUT: .connectTimedOut
        case CURLE_WEIRD_SERVER_REPLY, CURLE_BAD_CONTENT_ENCODING: .malformedResponse
        case CURLE_HTTP2_STREAM where isStreamCutOff(text()): hasHead ? .truncated : .connectionLost
        case CURLE_HTTP2_STREAM: .malformedResponse
        case CURLE_HTTP2: hasHead ? .malformedResponse : .connectionLost
        case CURLE_GOT_NOTHING, CURLE_SEND_ERROR: .connectionLost
        case CURLE_RECV_ERROR: .connectionLost
        case CURLE_PARTIAL_FILE: hasHead ? .truncated : .connectionLost
        // 7.88 says so of a field line above 100 KiB too, before any head is complete.
        case CURLE_OUT_OF_MEMORY: .outOfMemory
        case CURLE_READ_ERROR, CURLE_SEND_FAIL_REWIND, CURLE_ABORTED_BY_CALLBACK, CURLE_WRITE_ERROR: .internalError
        case CURLE_SSL_CONNECT_ERROR, CURLE_SSL_CIPHER, CURLE_SSL_ENGINE_NOTFOUND, CURLE_USE_SSL_FAILED,
            CURLE_SSL_SHUTDOWN_FAILED:
            .tlsHandshake
        case CURLE_SSL_CERTPROBLEM: .tlsClientCertificate
        case CURLE_SSL_CLIENTCERT: .tlsClientCertificateRequired
        case CURLE_PEER_FAILED_VERIFICATION: verification(easy)
        case CURLE_SSL_PINNEDPUBKEYNOTMATCH: .tlsPin
        case CURLE_SSL_CACERT_BADFILE, CURLE_SSL_ISSUER_ERROR, CURLE_SSL_CRL_BADFILE, CURLE_SSL_INVALIDCERTSTATUS:
            .tlsUntrusted
        case CURLE_REMOTE_ACCESS_DENIED: .malformedRequest
        default: .internalError
        }
    }

    /// Whether no thread could be had for looking a name up, so that nobody was asked for it, in libcurl's words (7.88,
    /// `Curl_resolver_getaddrinfo`).
    static func isLackOfThread(_ code: CURLcode, _ text: String) -> Bool {
        guard code == CURLE_COULDNT_RESOLVE_HOST || code == CURLE_COULDNT_RESOLVE_PROXY else { return false }
        return text.hasPrefix("getaddrinfo() thread failed to start")
    }

    /// Whether the server gave a stream up for a reason of its own, by the names of RFC 9113 §7 in libcurl's words; else one
    /// of the two broke the rules.
    static func isStreamGivenUp(_ text: String) -> Bool {
        ["NO_ERROR", "INTERNAL_ERROR", "REFUSED_STREAM", "CANCEL", "ENHANCE_YOUR_CALM"].contains(where: text.contains)
    }

    /// Whether the connection of a stream ended before it did, in libcurl's words.
    static func isStreamCutOff(_ text: String) -> Bool {
        text.contains("not closed cleanly before end of the underlying stream")
    }

    /// What an alert of the server's says about our certificate, by the names OpenSSL gives them (RFC 8446 §6.2); nil
    /// when the text tells of no such alert.
    ///
    /// In TLS 1.3 it comes when the client believes the handshake to be over, as an error in reading.
    static func alert(in text: String, sentCertificate: Bool) -> HopFailure.Kind? {
        guard let range = text.firstRange(of: " alert ") else { return nil }
        let name = text[range.upperBound...]
        if name.hasPrefix("certificate required") { return .tlsClientCertificateRequired }
        let names = [
            "bad certificate", "unsupported certificate", "certificate revoked", "certificate expired",
            "certificate unknown", "unknown ca", "access denied",
        ]
        if names.contains(where: name.hasPrefix) { return .tlsClientCertificate }
        // What servers of TLS 1.2 send for want of a certificate, and for much else.
        return sentCertificate && name.hasPrefix("handshake failure") ? .tlsClientCertificate : nil
    }

    /// Which check of the certificate failed, by OpenSSL's X509_V_ERR codes.
    private static func verification(_ easy: UnsafeMutableRawPointer) -> HopFailure.Kind {
        var result = 0
        _ = ccurl_get_long(easy, CURLINFO_SSL_VERIFYRESULT, &result)
        return verification(result)
    }

    /// What an X509_V_ERR code means.
    static func verification(_ result: Int) -> HopFailure.Kind {
        switch result {
        // The chain is good, or not looked at yet (libcurl begins with 1): it was libcurl's own check of the name.
        case 0, 1, 62, 63, 64: return .tlsHostMismatch
        case 9, 13: return .tlsNotYetValid
        case 10, 14: return .tlsCertificateDate
        case 18, 19: return .tlsSelfSigned
        default: return .tlsUntrusted
        }
    }
}
