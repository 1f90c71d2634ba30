package import TrawlHTTP

/// Who answers requests, where that is not the system's choice: what one answered is nothing for those who ask another.
package struct CachePartition: Sendable {
    private let trust: [UInt8]
    private let routes: ConnectRoutes?

    /// - Parameters:
    ///   - tls: Whom `https` trusts. Wherever its names lead, the certificate tells who answers.
    ///   - resolve: Where `http` leads, as CURLOPT_RESOLVE has it.
    ///   - connectTo: As CURLOPT_CONNECT_TO has it.
    package init(_ tls: TLSTerms, resolve: [String], connectTo: [String]) {
        trust = tls.trustBytes
        let isRouted = !resolve.isEmpty || !connectTo.isEmpty
        routes = isRouted ? ConnectRoutes(resolve: resolve, connectTo: connectTo) : nil
    }

    /// What stands for it: equal choices have equal bytes, and that of the system has none.
    package func bytes(for target: TargetURI) -> [UInt8] {
        if target.isHTTPS { return trust }
        return routes?.place(of: target.origin).map { Array($0.lowercased().utf8) } ?? []
    }
}
