/// Why a fetch produced no response.
///
/// A response of status 404 or 503 is not an error.
public struct FetchError: Error, Sendable, Hashable {
    /// For programs to switch on. New codes may appear in minor releases.
    public var code: Code { content.code }
    /// What a person needs to act: the limit, the phase, the path. Never a credential or a body.
    public var detail: String { content.detail }
    /// The failure beneath, when there is one: an `errno` where no connection could be made, to the server or to its
    /// proxy, or a file or a call of this process failed; a CURLcode where a transfer failed otherwise.
    public var cause: SystemFailure? { content.cause }
    /// The URL of the hop that failed, without user information; nil when none was made.
    public var url: String? { content.url }
    /// Whether sending the same request again is safe (RFC 9110 §9.2.2) and may succeed.
    public var isRetryable: Bool { content.isRetryable }
    /// What is needed to go on with a download (``Destination/FileOptions/keepsPart``); nil when it cannot be gone on
    /// with.
    public var resumeData: ResumeData? { content.resumeData }
    /// What the hops took, the one that failed included; of a fetch that was given up, those before, and the one in
    /// flight where its end was awaited. Two errors that differ in that alone are equal.
    package var metrics: [HopReport] { content.metrics.all }

    /// All of it, made once and shared by copies: most results hold none.
    private let content: Content

    /// An error of its parts.
    public init(
        _ code: Code, _ detail: String, cause: SystemFailure? = nil, url: String? = nil, isRetryable: Bool = false
    ) {
        content = Content(code, detail, cause, url, isRetryable, nil, HopReports())
    }

    private init(_ content: Content) { self.content = content }

    /// Equal when all parts are.
    public static func == (left: FetchError, right: FetchError) -> Bool {
        left.code == right.code && left.detail == right.detail && left.cause == right.cause && left.url == right.url
            && left.isRetryable == right.isRetryable && left.resumeData == right.resumeData
    }

    /// By code and detail: enough to tell errors apart.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(code)
        hasher.combine(detail)
    }

    private final class Content: Sendable {
        let code: Code
        let detail: String
        let cause: SystemFailure?
        let url: String?
        let isRetryable: Bool
        let resumeData: ResumeData?
        let metrics: HopReports

        init(
            _ code: Code, _ detail: String, _ cause: SystemFailure?, _ url: String?, _ isRetryable: Bool,
            _ resumeData: ResumeData?, _ metrics: HopReports
        ) {
            self.code = code
            self.detail = detail
            self.cause = cause
            self.url = url
            self.isRetryable = isRetryable
            self.resumeData = resumeData
            self.metrics = metrics
        }
    }

    /// The same error, with what is needed to go on.
    func keeping(_ data: ResumeData) -> FetchError {
        FetchError(Content(code, detail, cause, url, isRetryable, data, content.metrics))
    }

    /// The same error, with what the hops took.
    func reporting(_ metrics: HopReports) -> FetchError {
        FetchError(Content(code, detail, cause, url, isRetryable, resumeData, metrics))
    }

    /// A failure of the system or a library beneath.
    public enum SystemFailure: Sendable, Hashable {
        /// An `errno`.
        case system(Int32)
        /// A CURLcode.
        case curl(UInt32)
    }
}

extension FetchError {
    /// What kind of failure it was: an open set.
    public struct Code: Sendable, Hashable, RawRepresentable {
        /// The name used in machine-readable output.
        public let rawValue: String
        /// The code of that name.
        public init(rawValue: String) { self.rawValue = rawValue }

        private init(_ name: String) { rawValue = name }

        /// The caller cancelled the fetch.
        public static let cancelled = Code("cancelled")
        /// A time limit passed; the detail says which.
        public static let timeout = Code("timeout")
        /// Nothing is stored that could answer, and the network was not to be used.
        public static let notCached = Code("not_cached")
        /// A store directory cannot be used; the detail says why.
        public static let storeUnusable = Code("store_unusable")
        /// The URL is not one.
        public static let invalidURL = Code("invalid_url")
        /// The URL's scheme is not supported or not allowed.
        public static let unsupportedURL = Code("unsupported_url")
        /// The request cannot be sent as it stands.
        public static let badRequest = Code("bad_request")
        /// The host's name has no address.
        public static let hostNotFound = Code("dns")
        /// No connection could be made.
        public static let cannotConnect = Code("connect")
        /// The host failed so often that it is asked no more.
        public static let hostGivenUp = Code("host_given_up")
        /// The connection ended before the response was complete.
        public static let connectionLost = Code("connection_lost")
        /// TLS could not be set up.
        public static let tls = Code("tls")
        /// The certificate's chain leads to no trusted root, or nobody accepted it.
        public static let tlsUntrusted = Code("tls_untrusted")
        /// The certificate is signed by itself, or by a root that is not trusted.
        public static let tlsSelfSigned = Code("tls_self_signed")
        /// The server has none of the public keys that are accepted.
        public static let tlsPin = Code("tls_pin")
        /// The certificate is not valid yet.
        public static let tlsNotYetValid = Code("tls_not_yet_valid")
        /// The certificate has expired.
        public static let tlsCertificateDate = Code("tls_certificate_date")
        /// The certificate is for another host.
        public static let tlsHostMismatch = Code("tls_host_mismatch")
        /// The client certificate cannot be used, or the server refused it.
        public static let tlsClientCertificate = Code("tls_client_certificate")
        /// The server wants a client certificate.
        public static let tlsClientCertificateRequired = Code("tls_client_certificate_required")
        /// More redirects than allowed.
        public static let tooManyRedirects = Code("too_many_redirects")
        /// A redirect that may not be followed: to another scheme, from https to http, to no URL.
        public static let redirectRefused = Code("redirect_refused")
        /// What came is not HTTP, or breaks its rules.
        public static let protocolViolation = Code("protocol")
        /// The body is shorter than announced.
        public static let truncated = Code("truncated")
        /// A content coding is damaged, has no end, or is over its limits.
        public static let decoding = Code("decoding")
        /// More came than a limit allows; the detail names it.
        public static let tooLarge = Code("too_large")
        /// A server wants credentials, and there are none that it takes; the detail says why.
        public static let authentication = Code("authentication")
        /// A proxy wants credentials, and there are none that it takes; the detail says why.
        public static let proxyAuthentication = Code("proxy_authentication")
        /// Somebody who was asked for credentials wants no more questions.
        public static let authenticationCancelled = Code("authentication_cancelled")
        /// A file could not be created, written or renamed.
        public static let file = Code("file")
        /// Resume data is damaged, or what had come is gone.
        public static let resumeData = Code("resume_data")
        /// The proxy refused or failed.
        public static let proxy = Code("proxy")
        /// What the program has a say with threw an error; the detail tells it.
        public static let hookFailed = Code("hook_failed")
        /// The worker process died, and sending the request again is not safe or not promising.
        public static let workerLost = Code("worker_lost")
        /// No worker process can be run; the detail says why.
        public static let engineDown = Code("engine_down")
        /// The coordinator is shut down.
        public static let shutDown = Code("shut_down")
        /// A mistake of this library.
        public static let internalError = Code("internal")
    }

    /// The number of ASIHTTPRequest's error catalogue, 1 to 11.
    public var legacyCode: Int {
        switch code {
        case .timeout: 2
        case .authentication, .proxyAuthentication, .authenticationCancelled: 3
        case .cancelled: 4
        case .invalidURL where detail == FetchError.noHost: 6
        case .invalidURL, .unsupportedURL, .badRequest: 5
        case .file, .resumeData: 8
        case .tooManyRedirects: 9
        case .decoding: 11
        case .engineDown, .shutDown, .internalError, .workerLost, .hookFailed: 10
        default: 1
        }
    }

    /// The number the URL Loading System would use (`NSURLError…`).
    public var urlErrorCode: Int {
        switch code {
        case .cancelled: -999
        case .invalidURL, .badRequest: -1000
        case .timeout: -1001
        case .unsupportedURL: -1002
        case .hostNotFound: -1003
        case .cannotConnect, .hostGivenUp, .proxy: -1004
        case .connectionLost, .truncated, .workerLost: -1005
        case .tooManyRedirects: -1007
        case .notCached: -1008
        case .redirectRefused: -1010
        case .protocolViolation: -1011
        case .authenticationCancelled: -1012
        case .authentication, .proxyAuthentication: -1013
        case .decoding: -1015
        case .tooLarge: -1103
        case .file: -3000
        case .resumeData: -3001
        case .tls: -1200
        case .tlsCertificateDate: -1201
        case .tlsUntrusted, .tlsSelfSigned: -1203
        case .tlsHostMismatch, .tlsPin: -1202
        case .tlsNotYetValid: -1204
        case .tlsClientCertificate: -1205
        case .tlsClientCertificateRequired: -1206
        default: -1
        }
    }

    /// Whether the failure is one of TLS: ASIHTTPRequest's code 1 with a hint about the certificate.
    public var isTLSFailure: Bool { code.rawValue.hasPrefix("tls") }

    static let noHost = "the URL has no host"
    /// Of a fetch into a stream without a handle.
    static let unreadableStream = FetchError(.badRequest, "a stream is read through the handle of its fetch")

    /// Nothing is fetched any more.
    static func shutDown(url: String? = nil) -> FetchError {
        FetchError(.shutDown, "the coordinator is shut down", url: url)
    }
}

extension FetchError: CustomStringConvertible {
    /// Code and detail.
    public var description: String {
        detail.isEmpty ? code.rawValue : "\(code.rawValue): \(detail)"
    }
}
