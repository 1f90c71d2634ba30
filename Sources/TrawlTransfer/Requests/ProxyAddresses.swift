import TrawlHTTP
import TrawlProtocol

/// Addresses that stand for the names of proxies: entries of `--resolve`, which libcurl would put into the DNS cache
/// that all profiles of a worker share.
struct ProxyAddresses {
    private let routes: [(place: String, address: String)]

    /// - Parameter resolve: As in `ConnectRoutes`.
    init(resolve: [String]) {
        routes = resolve.compactMap(ConnectRoutes.address).map { (place: $0.from, address: $0.to) }
    }

    /// Where a proxy is connected to, `host:port`.
    ///
    /// The certificate of an `https` proxy has to name the host, which libcurl then has to know: such a name is
    /// resolved.
    func place(of proxy: ProxyRoute) -> String {
        let place = "\(proxy.host):\(proxy.port)"
        guard proxy.kind != .https, !routes.isEmpty else { return place }
        return routes.first { $0.place == place || $0.place == ":\(proxy.port)" }?.address ?? place
    }
}
