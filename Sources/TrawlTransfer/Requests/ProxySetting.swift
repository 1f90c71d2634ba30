import CTrawlCurl
import TrawlHTTP
import TrawlProtocol

/// What an easy handle is set to about a proxy.
final class ProxySetting {
    /// The route; nil is none.
    let route: ProxyRoute?
    /// Whether there is none.
    let isDirect: Bool
    /// Where it is connected to.
    let place: String
    /// The lines for the proxy alone; libcurl reads them while the transfer runs.
    let fields: FieldList?

    init(route: ProxyRoute?, place: String, fields: FieldList?) {
        self.route = route
        isDirect = route == nil
        self.place = place
        self.fields = fields
    }
}

extension EasyHandle {
    /// Sets the proxy of a hop, or none.
    func apply(_ route: ProxyRoute?, _ addresses: ProxyAddresses) {
        guard var route else {
            // An empty text, unlike nil, keeps libcurl from asking the environment.
            set(CURLOPT_PROXY, "")
            forgetProxyUser()
            _ = ccurl_set_pointer(raw, CURLOPT_PROXYHEADER, nil)
            proxy = ProxySetting(route: nil, place: "", fields: nil)
            return
        }
        let place = addresses.place(of: route)
        // Who the connection is opened as is said for each transfer anew, and kept nowhere.
        route.login = nil
        if let proxy, proxy.route == route, proxy.place == place { return }
        set(CURLOPT_PROXY, "\(route.kind.scheme)://\(place)")
        set(CURLOPT_HTTPPROXYTUNNEL, route.tunnels ? 1 : 0)
        if !route.kind.speaksHTTP, !route.user.isEmpty || !route.password.isEmpty {
            // Not remembered as other texts are, so that it is kept once, by libcurl.
            _ = route.user.withCString { ccurl_set_string(raw, CURLOPT_PROXYUSERNAME, $0) }
            _ = route.password.withCString { ccurl_set_string(raw, CURLOPT_PROXYPASSWORD, $0) }
        } else {
            // libcurl is never told the user of an HTTP proxy: it would answer challenges by itself.
            forgetProxyUser()
        }
        let fields = FieldList(route.fields, hasBody: false, isForProxy: true)
        _ = ccurl_set_pointer(raw, CURLOPT_PROXYHEADER, fields.head)
        proxy = ProxySetting(route: route, place: place, fields: fields)
    }

    private func forgetProxyUser() {
        _ = ccurl_set_string(raw, CURLOPT_PROXYUSERNAME, nil)
        _ = ccurl_set_string(raw, CURLOPT_PROXYPASSWORD, nil)
    }
}
