import TrawlHTTP
import TrawlPlatform
import TrawlProtocol
import TrawlSession

extension FetchError {
    /// What a worker reported, in the words of the public error.
    init(_ failure: HopFailure, fetch: RunningFetch) {
        let isRepeatable = fetch.engine.method.isIdempotent || !failure.requestSent
        var detail = failure.detail.terminalSafe
        var mayPass = false
        switch failure.kind {
        case .hostNotFound, .cannotConnect, .inactive, .connectionLost, .truncated, .proxy: mayPass = true
        case .connectTimedOut:
            detail = "no connection within \(fetch.plan.options.timeLimits.connect)"
            if let proxy = fetch.engine.way?.proxy { detail += " through the proxy \(proxy.text)" }
            mayPass = true
        case .timedOut:
            detail = "the fetch took longer than \(fetch.engine.limit)"
            mayPass = true
        case .file:
            let reason = failure.systemError == 0 ? detail : SystemError.text(of: failure.systemError)
            detail = "\((fetch.plan.path ?? "the body").terminalSafe): \(reason)"
        case .tlsHandshake, .tlsUntrusted, .tlsCertificateDate, .tlsHostMismatch, .tlsClientCertificate,
            .tlsNotYetValid, .tlsSelfSigned, .tlsPin, .tlsClientCertificateRequired, .tlsUndecided, .malformedResponse,
            .headTooLarge, .bodyTooLarge, .decoding, .requestBody, .cancelled, .unsupportedScheme, .malformedRequest,
            .outOfMemory, .internalError, .storedResponse:
            break
        }
        let cause: SystemFailure? =
            if failure.systemError != 0 {
                .system(failure.systemError)
            } else if failure.curlCode != 0 {
                .curl(failure.curlCode)
            } else {
                nil
            }
        self.init(
            failure.kind.code, detail, cause: cause, url: fetch.engine.target.text,
            isRetryable: mayPass && isRepeatable)
    }
}

extension HopFailure.Kind {
    /// The code of the public error.
    var code: FetchError.Code {
        switch self {
        case .hostNotFound: .hostNotFound
        case .cannotConnect: .cannotConnect
        case .tlsHandshake: .tls
        case .tlsUntrusted, .tlsUndecided: .tlsUntrusted
        case .tlsCertificateDate: .tlsCertificateDate
        case .tlsHostMismatch: .tlsHostMismatch
        case .tlsClientCertificate: .tlsClientCertificate
        case .tlsNotYetValid: .tlsNotYetValid
        case .tlsSelfSigned: .tlsSelfSigned
        case .tlsPin: .tlsPin
        case .tlsClientCertificateRequired: .tlsClientCertificateRequired
        case .connectTimedOut, .inactive, .timedOut: .timeout
        case .connectionLost: .connectionLost
        case .truncated: .truncated
        case .malformedResponse: .protocolViolation
        case .headTooLarge, .bodyTooLarge: .tooLarge
        case .decoding: .decoding
        case .file: .file
        case .requestBody, .malformedRequest: .badRequest
        case .cancelled: .cancelled
        case .unsupportedScheme: .unsupportedURL
        case .proxy: .proxy
        case .outOfMemory, .internalError, .storedResponse: .internalError
        }
    }
}

extension FetchError.Code {
    private static let outages = Set(HopFailure.Kind.allCases.filter(\.isOutage).map(\.code))

    /// Whether it means that the server cannot be reached or does not answer (RFC 9111 §4.2.4).
    var isOutage: Bool { Self.outages.contains(self) }
}
