package import TrawlHTTP

/// Where a request goes, as far as cookies are concerned. Its buffers live for the call that lends it.
///
/// - Source: RFC 6265bis §5.1.
package struct CookieTarget {
    /// In lower case and ASCII form; an IPv6 address in brackets.
    package let host: UnsafeRawBufferPointer
    /// The path without query.
    package let path: UnsafeRawBufferPointer
    /// Whether the connection counts as secure.
    package let isSecure: Bool
    /// Whether the host is an address, which has no domain above it.
    package let isAddress: Bool

    /// A target of its parts.
    package init(host: UnsafeRawBufferPointer, path: UnsafeRawBufferPointer, isSecure: Bool) {
        self.host = host
        self.path = path
        self.isSecure = isSecure
        isAddress = Self.isAddress(host)
    }

    /// Lends the target of a URI.
    ///
    /// Secure is `https`. RFC 6265bis §5.8.3 leaves the word to the user agent and names trusted hosts beside TLS: here
    /// `localhost` and loopback addresses, as in browsers and curl, since what is sent there does not leave the
    /// machine.
    ///
    /// - Parameter trustsLoopback: False when the request goes through a proxy, whose loopback is not ours.
    package static func with<Result, Failure: Error>(
        _ uri: TargetURI, trustsLoopback: Bool = true, _ body: (CookieTarget) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        var host = uri.host
        let isTLS = uri.isHTTPS
        let outcome: Swift.Result<Result, Failure> = host.withUTF8 { host in
            uri.withPathAndQuery { path, _ in
                let host = UnsafeRawBufferPointer(host)
                let isSecure = isTLS || trustsLoopback && isLoopback(host)
                let target = CookieTarget(host: host, path: UnsafeRawBufferPointer(path), isSecure: isSecure)
                do throws(Failure) {
                    return .success(try body(target))
                } catch {
                    return .failure(error)
                }
            }
        }
        return try outcome.get()
    }

    /// The path of cookies that name none (§5.1.4).
    var defaultPath: UnsafeRawBufferPointer {
        guard path.first == Self.slash else { return Self.root }
        var end = path.count - 1
        while end > 0, path[end] != Self.slash { end -= 1 }
        return end == 0 ? path.from(0, upTo: 1) : path.from(0, upTo: end)
    }

    /// Calls `body` with the host and each domain above it, longest first: all that a cookie for it can be kept under.
    func forEachDomain(_ body: (UnsafeRawBufferPointer) -> Void) {
        body(host)
        if !isAddress { Self.forEachDomain(above: host, body) }
    }

    /// Calls `body` with each domain above a host that is no address, longest first.
    static func forEachDomain(above host: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) -> Void) {
        for index in 0..<host.count where host[index] == dot { body(host.from(index + 1, upTo: host.count)) }
    }

    /// Whether a host is in a domain; both in lower case (§5.1.3).
    @inline(__always)
    static func domainMatches(_ host: UnsafeRawBufferPointer, _ domain: UnsafeRawBufferPointer) -> Bool {
        let above = host.count - domain.count
        if above == 0 { return host.equals(domain) }
        guard above > 0, !domain.isEmpty, host[above - 1] == dot,
            host.from(above, upTo: host.count).equals(domain)
        else { return false }
        return !isAddress(host)
    }

    /// Whether a request's path is in that of a cookie (§5.1.4).
    @inline(__always)
    static func pathMatches(_ path: UnsafeRawBufferPointer, _ cookiePath: UnsafeRawBufferPointer) -> Bool {
        let length = cookiePath.count
        guard length > 0 else { return false }
        // A path that is empty is that of the root.
        if path.count < length { return path.isEmpty && length == 1 && cookiePath[0] == slash }
        guard path.from(0, upTo: length).equals(cookiePath) else { return false }
        return path.count == length || cookiePath[length - 1] == slash || path[length] == slash
    }

    /// Whether a host is an IPv6 address in brackets, or ends in a label of digits, which only IPv4 addresses do.
    static func isAddress(_ host: UnsafeRawBufferPointer) -> Bool {
        if host.first == UInt8(ascii: "[") { return true }
        var index = host.count
        while index > 0, host[index - 1] &- 0x30 < 10 { index -= 1 }
        return index < host.count && (index == 0 || host[index - 1] == dot)
    }

    /// Whether a host is this machine itself: `localhost` or an address of the loopback interface.
    package static func isLoopback(_ host: String) -> Bool {
        var host = host
        return host.withUTF8 { isLoopback(UnsafeRawBufferPointer($0)) }
    }

    static func isLoopback(_ host: UnsafeRawBufferPointer) -> Bool {
        host.isIgnoringCase("localhost") || host.isIgnoringCase("[::1]")
            || host.startsIgnoringCase("127.") && isAddress(host)
    }

    private static let slash = UInt8(ascii: "/")
    private static let dot = UInt8(ascii: ".")
    private static let rootText: StaticString = "/"
    private static var root: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: rootText.utf8Start, count: 1)
    }
}
