import CTrawlCurl
import Glibc
import TrawlHTTP
import TrawlProtocol

/// The server's certificate, where the coordinator has the last word.
extension Transfer {
    /// Has a connection's TLS look for trusted certificates where libcurl, which is not to check them, would not.
    ///
    /// What cannot be read trusts nobody: the check before the request says so. An `https` proxy's certificate libcurl
    /// checks itself: whom servers are trusted by is nothing to a proxy.
    func trust(in tls: UnsafeMutableRawPointer?) {
        guard ccurl_tls_is_checked(tls) == 0 else { return }
        let terms = profile.profile.tls
        let isOwn = !terms.caFile.isEmpty || !terms.caDirectory.isEmpty || !terms.caData.isEmpty
        let file = isOwn ? terms.caFile : easy.defaultCAFile ?? ""
        let directory = isOwn ? terms.caDirectory : easy.defaultCADirectory ?? ""
        if !file.isEmpty, terms.caData.isEmpty { _ = ccurl_tls_trust(tls, file, nil, nil, 0) }
        if !directory.isEmpty { _ = ccurl_tls_trust(tls, nil, directory, nil, 0) }
        if !terms.caData.isEmpty {
            _ = terms.caData.withUnsafeBytes { ccurl_tls_trust(tls, nil, nil, $0.baseAddress, $0.count) }
        }
    }

    /// Whether the request may be sent to whom the connection leads; `failure` says what is wrong and shows the chain.
    ///
    /// The handshake is over and no byte of the request has gone out.
    func mayTrust() -> Bool {
        let tls = profile.profile.tls
        guard tls.question != .never else { return true }
        let problem = problem(tls)
        if problem == nil, tls.question == .unlessVerified || lease.asksNobody { return true }
        let chain = certificates()
        switch lease.trusted {
        case .undecided: break
        case .accepted(let certificate): if chain.first == certificate { return true }
        case .verified(let certificate): if problem == nil, chain.first == certificate { return true }
        }
        let result = ccurl_tls_verify_result(easy.raw)
        var failure = HopFailure(
            problem ?? .tlsUndecided, curlCode: CURLE_PEER_FAILED_VERIFICATION.rawValue,
            detail: problem == nil ? "nobody has accepted the certificate" : Self.text(problem, result))
        failure.certificates = chain
        self.failure = failure
        return false
    }

    /// What the rules have against the certificate.
    private func problem(_ tls: TLSTerms) -> HopFailure.Kind? {
        let result = ccurl_tls_verify_result(easy.raw)
        if tls.verifiesPeer, result != 0 { return CurlFailure.verification(Int(result)) }
        if tls.verifiesHost, ccurl_tls_names_host(easy.raw, lease.host) != 1 { return .tlsHostMismatch }
        return nil
    }

    private static func text(_ problem: HopFailure.Kind?, _ result: Int64) -> String {
        switch problem {
        case .tlsHostMismatch?: "the certificate does not name the host"
        case .tlsSelfSigned?: "the certificate is signed by itself"
        case .tlsCertificateDate?: "the certificate has expired"
        case .tlsNotYetValid?: "the certificate is not valid yet"
        default: "the certificate leads to no trusted root (\(result))"
        }
    }

    /// The chain in DER form, the server's own first.
    private func certificates() -> [[UInt8]] {
        var chain: [[UInt8]] = []
        while chain.count < WireProtocol.maximumCertificates {
            let place = Int32(chain.count)
            let length = ccurl_tls_certificate(easy.raw, place, nil, 0)
            guard length > 0, length <= WireProtocol.maximumCertificate else { break }
            var bytes = [UInt8](repeating: 0, count: Int(length))
            guard
                bytes.withUnsafeMutableBufferPointer({
                    ccurl_tls_certificate(easy.raw, place, $0.baseAddress, $0.count)
                })
                    == length
            else { break }
            chain.append(bytes)
        }
        return chain
    }
}

extension Lease {
    /// Whether its URL is `https`.
    @inline(__always)
    var isSecure: Bool { url.withCString { strncmp($0, "https:", 6) == 0 } }

    /// The URL's host as a certificate names it: an address without brackets and zone (RFC 6874 §2), a name without the
    /// dot at its end, as libcurl compares it.
    var host: String {
        let rest = url.utf8.drop { $0 != UInt8(ascii: "/") }.dropFirst(2)
        if rest.first == UInt8(ascii: "[") {
            let address = rest.dropFirst().prefix { $0 != UInt8(ascii: "]") && $0 != UInt8(ascii: "%") }
            return String(decoding: address, as: UTF8.self)
        }
        let name = rest.prefix { $0 != UInt8(ascii: ":") && $0 != UInt8(ascii: "/") }
        return String(decoding: name.last == UInt8(ascii: ".") ? name.dropLast() : name, as: UTF8.self)
    }
}
