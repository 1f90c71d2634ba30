import TrawlHTTP

/// Where a nonce of Digest may be used before a challenge: the list of URIs in `domain`.
///
/// URIs of other origins are left out, though RFC 7616 §3.3 allows them: credentials stay with their origin. For a
/// proxy the list says nothing.
enum DigestDomain {
    /// The paths at the origin that the list names; nil when it is for all of the origin.
    ///
    /// - Parameter limit: How many are read at most. What a longer list names besides is asked about again.
    static func paths(_ domain: [UInt8], at origin: Origin, limit: Int = PreemptionScope.mostPaths) -> [[UInt8]]? {
        let members = domain.split { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
        if members.isEmpty { return nil }
        return Array(members.lazy.compactMap { path(Array($0), at: origin) }.prefix(limit))
    }

    private static func path(_ reference: [UInt8], at origin: Origin) -> [UInt8]? {
        let slash = UInt8(ascii: "/")
        guard let first = reference.firstIndex(of: slash) else { return nil }
        let isNetworkPath = reference.count > first + 1 && reference[first + 1] == slash
        if first == 0, !isNetworkPath { return reference }
        // An absolute URI, or one that leaves out the scheme; any other form is not allowed here.
        guard isNetworkPath else { return nil }
        if first > 0 {
            let scheme = reference[..<first].dropLast()
            guard reference[first - 1] == .colon, isEqual(scheme, origin.scheme) else { return nil }
        }
        let rest = reference[(first + 2)...]
        let end = rest.firstIndex { $0 == slash || $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") } ?? rest.endIndex
        guard isAuthority(rest[..<end], of: origin) else { return nil }
        let path = rest[end...]
        return path.first == slash ? Array(path) : [slash] + path
    }

    private static func isAuthority(_ authority: ArraySlice<UInt8>, of origin: Origin) -> Bool {
        if isEqual(authority, "\(origin.host):\(origin.port)") { return true }
        return origin.explicitPort == nil && (isEqual(authority, origin.host) || isEqual(authority, origin.host + ":"))
    }

    private static func isEqual(_ bytes: ArraySlice<UInt8>, _ text: String) -> Bool {
        bytes.withUnsafeBytes { FieldSyntax.equalIgnoringCase($0, text) }
    }
}
