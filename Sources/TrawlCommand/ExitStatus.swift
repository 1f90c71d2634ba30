import Trawl

/// Exit statuses: sysexits.h where it has a word, curl's codes for a single URL.
enum ExitStatus {
    static let success: Int32 = 0
    static let someFailed: Int32 = 1
    static let usage: Int32 = 2
    static let dataError: Int32 = 65
    static let engineDown: Int32 = 69
    static let cannotCreate: Int32 = 73
    static let outputError: Int32 = 74
    static let stopped: Int32 = 75
    static let noPermission: Int32 = 77
    static let configuration: Int32 = 78

    /// curl's own codes that follow from no error of the library.
    enum Curl {
        static let httpError: Int32 = 22
        static let writeError: Int32 = 23
        static let readError: Int32 = 26
        static let certificateError: Int32 = 58
        static let certificateFileError: Int32 = 77
        static let pinError: Int32 = 90
    }

    /// curl's exit code for a failed fetch.
    ///
    /// The kind of the failure decides; libcurl's own code only where it says more.
    static func curlCode(for error: FetchError) -> Int32 {
        switch error.code {
        case .invalidURL: 3
        case .unsupportedURL: 1
        // To no URL, or to one that may not be followed.
        case .redirectRefused: refined(error, among: [3], else: 1)
        case .hostNotFound: 6
        case .cannotConnect: refined(error, among: [45], else: 7)
        case .proxy: proxyCode(for: error)
        case .timeout: 28
        case .tls: refined(error, among: [53, 54, 58, 59, 60, 64, 66, 77, 80, 82, 83, 90, 91], else: 35)
        case .tlsUntrusted: refined(error, among: [77, 82, 83, 91], else: 60)
        case .tlsCertificateDate, .tlsNotYetValid, .tlsSelfSigned, .tlsHostMismatch: 60
        case .tlsPin: Curl.pinError
        case .tlsClientCertificateRequired: refined(error, among: [35, 56], else: 98)
        case .tlsClientCertificate: 58
        case .tooManyRedirects: 47
        case .protocolViolation: refined(error, among: [1, 16, 56, 92], else: 8)
        case .truncated: 18
        case .connectionLost: refined(error, among: [52, 55], else: 56)
        case .decoding: 61
        case .tooLarge: 63
        case .file: Curl.writeError
        case .authentication, .proxyAuthentication, .authenticationCancelled: 67
        case .badRequest: 43
        case .cancelled, .shutDown: 42
        case .engineDown: engineDown
        default: 70
        }
    }

    /// curl's exit code for a proxy that was of no use: what the system says is said of connecting, 97 is SOCKS alone,
    /// and what is left is an answer to CONNECT that is none.
    private static func proxyCode(for error: FetchError) -> Int32 {
        if case .system = error.cause { return 7 }
        return refined(error, among: [5, 7, 35, 60, 77, 97], else: 56)
    }

    private static func refined(_ error: FetchError, among codes: [UInt32], else code: Int32) -> Int32 {
        guard case .curl(let cause) = error.cause, codes.contains(cause) else { return code }
        return Int32(cause)
    }
}
