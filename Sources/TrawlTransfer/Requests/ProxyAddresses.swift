import TrawlHTTP
import TrawlProtocol

/// Addresses that stand for the names of proxies: entries of `--resolve`, which libcurl would put into the DNS cache
/// that all profiles of a worker share.
struct ProxyAddresses {
    private let addresses: [ConnectRoutes.Address]

    /// - Parameter resolve: As in `ConnectRoutes`.
    init(resolve: [String]) {
        addresses = ConnectRoutes.addresses(resolve)
    }

    /// Where a proxy is connected to, `host:port`.
    ///
    /// The certificate of an `https` proxy has to name the host, which libcurl then has to know: such a name is
    /// resolved.
    func place(of proxy: ProxyRoute) -> String {
        let place = "\(proxy.host):\(proxy.port)"
        guard proxy.kind != .https, !addresses.isEmpty else { return place }
        let host = proxy.host.lowercased()
        return addresses.first { ($0.host.isEmpty || $0.host == host) && $0.port == proxy.port }?.to ?? place
    }
}
