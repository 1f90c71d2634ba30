import Testing
import TrawlProtocol

@testable import Trawl

@Suite("Error numbers of the libraries before, ASI-RUN-06, 07")
struct FetchErrorTests {
    @Test(
        "each code has its number in ASIHTTPRequest's catalogue and the URL Loading System's",
        arguments: [
            (FetchError.Code.cannotConnect, 1, -1004), (.hostNotFound, 1, -1003), (.timeout, 2, -1001),
            (.cancelled, 4, -999), (.badRequest, 5, -1000), (.unsupportedURL, 5, -1002), (.file, 8, -3000),
            (.tooManyRedirects, 9, -1007), (.workerLost, 10, -1005), (.decoding, 11, -1015),
            (.connectionLost, 1, -1005), (.tls, 1, -1200), (.tlsCertificateDate, 1, -1201), (.tlsUntrusted, 1, -1203),
            (.tlsHostMismatch, 1, -1202), (.tlsClientCertificate, 1, -1205), (.tlsNotYetValid, 1, -1204),
            (.authentication, 3, -1013), (.proxyAuthentication, 3, -1013), (.proxy, 1, -1004),
            (.tlsSelfSigned, 1, -1203), (.tlsPin, 1, -1202), (.tlsClientCertificateRequired, 1, -1206),
        ])
    func numbers(code: FetchError.Code, legacy: Int, loading: Int) {
        let error = FetchError(code, "")
        #expect(error.legacyCode == legacy)
        #expect(error.urlErrorCode == loading)
        #expect(error.isTLSFailure == code.rawValue.hasPrefix("tls"))
    }

    @Test(
        "a failure is an outage by its code, too, and nothing else is (RFC 9111 §4.2.4)",
        arguments: HopFailure.Kind.allCases)
    func outages(kind: HopFailure.Kind) {
        #expect(kind.code.isOutage == kind.isOutage)
    }

    @Test("a URL without a host has a number of its own")
    func noHost() {
        #expect(FetchError(.invalidURL, FetchError.noHost).legacyCode == 6)
        #expect(FetchError(.invalidURL, "the URL is empty").legacyCode == 5)
    }

    @Test("text for people shows what could drive a terminal")
    func escaping() {
        #expect("plain".terminalSafe == "plain")
        #expect("a\u{1B}[2J\u{202E}b\u{9B}".terminalSafe == #"a\u{1b}[2J\u{202e}b\u{9b}"#)
        for mark in ["\u{61C}", "\u{200E}", "\u{200F}", "\u{2066}", "\u{2069}"] {
            #expect("a\(mark)b".terminalSafe.unicodeScalars.allSatisfy { $0.isASCII })
        }
        #expect("größe".terminalSafe == "größe")
    }
}
