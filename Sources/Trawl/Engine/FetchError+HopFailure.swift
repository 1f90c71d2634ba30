import TrawlHTTP
import TrawlPlatform
import TrawlProtocol
import TrawlSession

extension FetchError {
    /// What a worker reported, in the words of the public error.
    init(_ failure: HopFailure, fetch: RunningFetch) {
        let isRepeatable = fetch.engine.method.isIdempotent || !failure.requestSent
        var detail = failure.detail.terminalSafe
        let code: Code
        var mayPass = false
        switch failure.kind {
        case .hostNotFound:
            code = .hostNotFound
            mayPass = true
        case .cannotConnect:
            code = .cannotConnect
            mayPass = true
        case .tlsHandshake: code = .tls
        case .tlsUntrusted: code = .tlsUntrusted
        case .tlsCertificateDate: code = .tlsCertificateDate
        case .tlsHostMismatch: code = .tlsHostMismatch
        case .tlsClientCertificate: code = .tlsClientCertificate
        case .tlsNotYetValid: code = .tlsNotYetValid
        case .tlsSelfSigned: code = .tlsSelfSigned
        case .tlsPin: code = .tlsPin
        case .tlsClientCertificateRequired: code = .tlsClientCertificateRequired
        case .tlsUndecided: code = .tlsUntrusted
        case .connectTimedOut:
            code = .timeout
            detail = "no connection within \(fetch.plan.options.timeLimits.connect)"
            if let proxy = fetch.engine.way?.proxy { detail += " through the proxy \(proxy.text)" }
            mayPass = true
        case .inactive:
            code = .timeout
            mayPass = true
        case .timedOut:
            code = .timeout
            detail = "the fetch took longer than \(fetch.engine.limit)"
            mayPass = true
        case .connectionLost:
            code = .connectionLost
            mayPass = true
        case .truncated:
            code = .truncated
            mayPass = true
        case .malformedResponse: code = .protocolViolation
        case .headTooLarge, .bodyTooLarge: code = .tooLarge
        case .decoding: code = .decoding
        case .file:
            code = .file
            let reason = failure.systemError == 0 ? detail : SystemError.text(of: failure.systemError)
            detail = "\((fetch.plan.path ?? "the body").terminalSafe): \(reason)"
        case .requestBody: code = .badRequest
        case .cancelled: code = .cancelled
        case .unsupportedScheme: code = .unsupportedURL
        case .malformedRequest: code = .badRequest
        case .proxy:
            code = .proxy
            mayPass = true
        case .outOfMemory, .internalError, .storedResponse: code = .internalError
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
            code, detail, cause: cause, url: fetch.engine.target.text, isRetryable: mayPass && isRepeatable)
    }
}

extension RequestOptions.Redirects.Mode {
    var packageMode: RedirectMode {
        switch self {
        case .manual: .manual
        case .standard: .standard
        case .classic: .classic
        case .preserve: .preserve
        }
    }
}

extension Response {
    /// The names in `Content-Encoding` values, in lower case and order.
    static func codingNames(_ values: [String]) -> [String] {
        values.flatMap { $0.split(separator: ",") }.map { name in
            name.drop { $0 == " " || $0 == "\t" }.prefix { $0 != " " && $0 != "\t" }.lowercased()
        }
    }
}
