import CTrawlCurl
import TrawlCoding
import TrawlHTTP
import TrawlProtocol

/// A transfer profile in the form its options are set in.
final class ResolvedProfile {
    let profile: TransferProfile
    let limits: DecodingLimits
    let protocols: String
    /// Whether requests may share a connection at a time.
    let multiplexes: Bool
    /// Addresses that stand for proxies' names.
    let proxyAddresses: ProxyAddresses
    /// Entries of CURLOPT_CONNECT_TO, or nil.
    private let connectTo: UnsafeMutablePointer<curl_slist>?

    init(_ profile: TransferProfile) {
        self.profile = profile
        multiplexes = profile.version == .http2 || profile.version == .http2PriorKnowledge
        limits = DecodingLimits(
            layers: max(1, Int(profile.codingLayers)), decodedBytes: max(1, Int(clamping: profile.bodyBytes)),
            ratio: profile.codingRatio == 0 ? Int.max : Int(profile.codingRatio))
        var protocols: [String] = []
        if profile.allowsHTTP { protocols.append("http") }
        if profile.allowsHTTPS { protocols.append("https") }
        self.protocols = protocols.joined(separator: ",")
        proxyAddresses = ProxyAddresses(resolve: profile.resolve)
        var list: UnsafeMutablePointer<curl_slist>?
        for entry in ConnectRoutes(resolve: profile.resolve, connectTo: profile.connectTo).entries {
            list = curl_slist_append(list, entry) ?? list
        }
        connectTo = list
    }

    deinit {
        curl_slist_free_all(connectTo)
    }

    /// Sets every option that depends on the profile.
    func apply(to easy: EasyHandle, receiveBuffer: Int) {
        guard easy.profile !== self else { return }
        switch profile.version {
        case .http1_0: easy.set(CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_0)
        case .http1_1: easy.set(CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1)
        case .http2: easy.set(CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_2TLS)
        case .http2PriorKnowledge: easy.set(CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE)
        }
        // Where requests may share a connection, each one's scheme decides: see `Transfer.setOptions`.
        if !multiplexes { easy.set(CURLOPT_PIPEWAIT, 0) }
        switch profile.addressFamily {
        case .any: easy.set(CURLOPT_IPRESOLVE, Int(CURL_IPRESOLVE_WHATEVER))
        case .ipv4: easy.set(CURLOPT_IPRESOLVE, Int(CURL_IPRESOLVE_V4))
        case .ipv6: easy.set(CURLOPT_IPRESOLVE, Int(CURL_IPRESOLVE_V6))
        }
        limitConnecting(of: easy)
        // For how long an idle connection is kept is ours to say, since a server may name a longer time than the request:
        // see `Transfer.leave`.
        easy.set(CURLOPT_MAXAGE_CONN, Int(Int32.max))
        easy.set(CURLOPT_BUFFERSIZE, receiveBuffer)
        easy.set(CURLOPT_PROTOCOLS_STR, protocols)
        apply(profile.tls, to: easy)
        easy.set(CURLOPT_PROXY_SSL_VERIFYPEER, profile.verifiesProxy ? 1 : 0)
        easy.set(CURLOPT_PROXY_SSL_VERIFYHOST, profile.verifiesProxy ? 2 : 0)
        easy.set(CURLOPT_PROXY_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2))
        easy.setProxyTrust(profile.proxyCAFile)
        easy.set(CURLOPT_INTERFACE, profile.interface.isEmpty ? nil : profile.interface)
        _ = ccurl_set_pointer(easy.raw, CURLOPT_CONNECT_TO, connectTo)
        easy.profile = self
    }

    /// Sets how long a connection may take to be made, of which libcurl gives each address a part.
    ///
    /// - Parameter lost: Milliseconds that have passed since it began and do not count.
    func limitConnecting(of easy: EasyHandle, lost: UInt64 = 0) {
        // 0 would be libcurl's default of five minutes.
        let limit = profile.connectTimeout == 0 ? .max : UInt64(profile.connectTimeout).addingClamping(lost)
        easy.set(CURLOPT_CONNECTTIMEOUT_MS, Int(min(limit, UInt64(Int32.max))))
    }
}
