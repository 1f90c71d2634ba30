// TrawlURL: URLs as libcurl will request them, and public suffixes, for the targets that may know neither. It
// resolves no name, connects to nobody, and must never have an opinion of its own on what a URL means. What libcurl
// reads otherwise than the URL Standard it is given in a form that both read alike, or it is refused.

import CTrawlCurl
package import TrawlHTTP

/// Parses and normalises URLs as libcurl will request them, so that policy and transfer never see different hosts.
///
/// Any scheme with an authority is accepted; the caller checks the name. The whole module does no input or output.
/// Bound to one thread at a time: it keeps one libcurl handle.
package final class URLParser {
    /// Longer texts are refused, in bytes.
    package static let maximumLength = 65_535
    /// Longer hosts are refused, in bytes: no name has more (RFC 1035 §2.3.4), and no address.
    package static let maximumHostLength = 255

    /// Made when the first URL needs it: many never do, and libcurl is not loaded until then.
    private var handle: OpaquePointer?
    private let usesFastPath: Bool
    /// What was resolved last: one redirect is looked at several times.
    var latest: Resolved?

    /// A reference and what it means.
    struct Resolved {
        let reference: String
        /// The text and the fragment of the target in whose context it stands.
        let base: String
        let fragment: String?
        let target: TargetURI
    }

    /// A parser.
    package convenience init() {
        self.init(usesFastPath: true)
    }

    /// - Parameter usesFastPath: Whether plain URLs may skip libcurl; tests compare both ways.
    init(usesFastPath: Bool) {
        self.usesFastPath = usesFastPath
    }

    deinit {
        if let handle { curl_url_cleanup(handle) }
    }

    /// The normalised form of an absolute URL.
    ///
    /// Scheme and host come out in lower case, the host in ASCII form (IDNA) and IPv4 addresses with four decimal
    /// numbers, of which a host that ends in a number has to be one; dot segments are resolved, the default port is
    /// dropped, spaces and bytes outside ASCII of path, query and fragment are percent-encoded. The port of a scheme
    /// without a known default is 0 when none is given.
    ///
    /// - Parameters:
    ///   - guessingScheme: Whether a text without `scheme://` is read as if `http://` stood before it.
    ///   - withUser: Whether user information is looked at; else it may be undecodable, and the target has none.
    /// - Source: RFC 3986 §2.1, §3, §6.2.2, §6.2.3; RFC 9110 §4.2; URL Standard.
    package func parse(
        _ text: String, guessingScheme: Bool = false, withUser: Bool = true
    ) throws(URLFailure) -> TargetURI {
        guard !text.isEmpty else { throw .empty }
        guard text.utf8.count <= Self.maximumLength else { throw .tooLong }
        if usesFastPath, let plain = PlainURL.parse(text) { return plain }
        if guessingScheme, !Self.hasAuthority(text.utf8) {
            return try parseChecked("http://" + text, withUser: withUser)
        }
        return try parseChecked(text, withUser: withUser)
    }

    private func parseChecked(_ text: String, withUser: Bool) throws(URLFailure) -> TargetURI {
        // Not part of any URI, and a zero byte would end the text early (RFC 3986 §2).
        guard !text.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) else {
            throw .malformed(reason: "the URL holds a control character")
        }
        let reference = URIReference(text)
        guard let scheme = reference.scheme?.lowercased() else { throw .malformed(reason: "the URL has no scheme") }
        // libcurl would take `http:///path` for the host `path`; RFC 9110 §4.2.1 wants an empty host refused. `https:/path`
        // has none either.
        guard let authority = reference.authority, !authority.isEmpty else {
            throw scheme == "http" || scheme == "https" ? .noHost : .unsupportedScheme(scheme)
        }
        // A backslash is a path separator to browsers and part of the host to nobody else: never guess.
        guard !authority.utf8.contains(UInt8(ascii: "\\")) else {
            throw .malformed(reason: "the authority holds a backslash")
        }
        if handle == nil { handle = curl_url() }
        guard let handle else { throw .malformed(reason: "libcurl, which parses such URLs, cannot be loaded") }
        // Encoded here: CURLU_URLENCODE makes a plus sign of a query's space, which is one in forms alone, and writes
        // digits in small letters (RFC 3986 §2.1). The fragment is none of libcurl's business.
        let end = reference.fragment.map { text.utf8.index(before: $0.startIndex) } ?? text.endIndex
        var url = String(text[..<authority.startIndex]) + Self.withOneAt(authority)
        url += Self.encoded(Self.dotted(reference.path.utf8))
        url += Self.encoded(text[reference.path.endIndex..<end].utf8)
        let code = curl_url_set(handle, CURLUPART_URL, url, UInt32(CURLU_NON_SUPPORT_SCHEME))
        guard code == CURLUE_OK else {
            if code == CURLUE_NO_HOST { throw .noHost }
            throw .malformed(reason: String(cString: curl_url_strerror(code)))
        }
        var fragment: String?
        if let given = reference.fragment, !given.isEmpty { fragment = Self.encoded(given.utf8) }
        let isTranslated = authority.utf8.contains { $0 == UInt8(ascii: "%") || $0 >= 0x80 }
        return try assemble(
            handle, scheme: scheme, fragment: fragment, withUser: withUser, isTranslated: isTranslated)
    }

    /// A part of a URL with its spaces and the bytes outside ASCII percent-encoded; other bytes stay, right or wrong.
    private static func encoded(_ part: some Sequence<UInt8>) -> String {
        PercentEncoding.text(of: part) { $0 == 0x20 }
    }

    /// An authority whose last `@`, which ends the user information, is its only one: others are encoded. libcurl takes
    /// the first for the end.
    ///
    /// - Source: URL Standard, authority state.
    private static func withOneAt(_ authority: Substring) -> String {
        guard let end = authority.utf8.lastIndex(of: UInt8(ascii: "@")) else { return String(authority) }
        let user = PercentEncoding.text(of: authority[..<end].utf8) { $0 == UInt8(ascii: "@") }
        return user + String(authority[end...])
    }

    /// A path whose dot segments are written with dots: `%2e` is one in them, and not to libcurl.
    ///
    /// - Source: URL Standard, single-dot and double-dot URL path segments.
    private static func dotted(_ path: Substring.UTF8View) -> [UInt8] {
        let (dot, slash) = (UInt8(ascii: "."), UInt8(ascii: "/"))
        guard path.contains(UInt8(ascii: "%")) else { return Array(path) }
        let segments = path.split(separator: slash, omittingEmptySubsequences: false).map { segment -> [UInt8] in
            let decoded = PercentEncoding.decoded(segment)
            return decoded == [dot] || decoded == [dot, dot] ? decoded : Array(segment)
        }
        return Array(segments.joined(separator: [slash]))
    }

    /// - Parameter isTranslated: Whether the host may have been written in another way than libcurl has it now.
    private func assemble(
        _ handle: OpaquePointer, scheme: String, fragment: String?, withUser: Bool, isTranslated: Bool
    ) throws(URLFailure) -> TargetURI {
        let port: UInt16
        if let digits = try part(handle, CURLUPART_PORT, flags: 0) {
            guard let number = UInt16(digits), number > 0 else { throw .malformed(reason: "the port is not valid") }
            port = number
        } else {
            port = Self.defaultPort(of: scheme)
        }
        let path = try part(handle, CURLUPART_PATH, flags: 0) ?? "/"
        let query = try part(handle, CURLUPART_QUERY, flags: 0)
        var user = try withUser ? part(handle, CURLUPART_USER, flags: CURLU_URLDECODE) : nil
        var password = try withUser ? part(handle, CURLUPART_PASSWORD, flags: CURLU_URLDECODE) : nil
        // URL Standard, "include credentials": `@` and `:@` before a host name nobody.
        if (user ?? "").isEmpty, (password ?? "").isEmpty { (user, password) = (nil, nil) }
        // Last, since the handle may hold another URL afterwards.
        let host = try host(handle, scheme: scheme, isTranslated: isTranslated)
        var text = scheme + "://" + host
        if port != Self.defaultPort(of: scheme) { text += ":\(port)" }
        text += path
        if let query { text += "?" + query }
        return TargetURI(
            origin: Origin(scheme: scheme, host: host, port: port), path: path, query: query, fragment: fragment,
            user: user, password: password, text: text)
    }

    /// The host of the URL in the handle, in normal form: what libcurl reads when it is given the URL in normal form.
    private func host(
        _ handle: OpaquePointer, scheme: String, isTranslated: Bool
    ) throws(URLFailure) -> String {
        guard let read = try part(handle, CURLUPART_HOST, flags: 0), !read.isEmpty else { throw .noHost }
        var host = read.lowercased()
        if read.utf8.first == UInt8(ascii: "[") {
            if let zone = try part(handle, CURLUPART_ZONEID, flags: 0) {
                // RFC 6874 §2.
                host = host.dropLast() + "%25" + zone + "]"
            }
        } else {
            if !read.utf8.allSatisfy({ $0 < 0x80 }) { host = try asciiHost(handle).lowercased() }
            guard !host.isEmpty else { throw .noHost }
            // Decoded, or mapped by IDNA, characters of a name can become delimiters, at which the host would end for
            // whatever reads the URL next. A name has none (RFC 3986 §3.2.2, UTS 46 §4, RFC 5891 §5.4).
            guard host.utf8.allSatisfy(Self.isNameByte) else {
                throw .malformed(reason: "the host holds a character that no name has")
            }
            if isTranslated { host = try settled(host, handle, scheme: scheme) }
            if Self.endsInNumber(host) {
                // URL Standard, host parser: then it is an IPv4 address or nothing. What libcurl cannot read as one, as
                // with a dot behind it, it takes for a name.
                if host.utf8.last == UInt8(ascii: ".") {
                    host = try settled(String(host.dropLast()), handle, scheme: scheme)
                }
                guard IPAddress(host) != nil else {
                    throw .malformed(reason: "the host ends in a number and is no IPv4 address")
                }
            }
        }
        guard host.utf8.count <= Self.maximumHostLength else {
            throw .malformed(reason: "the host is longer than \(Self.maximumHostLength) bytes")
        }
        return host
    }

    /// What libcurl takes a host for that it finds in a URL as it is: a number is an address in another form. What it
    /// takes for something else a second time is refused.
    private func settled(_ host: String, _ handle: OpaquePointer, scheme: String) throws(URLFailure) -> String {
        var host = host
        for _ in 0..<2 {
            let url = "\(scheme)://\(host)/"
            guard curl_url_set(handle, CURLUPART_URL, url, UInt32(CURLU_NON_SUPPORT_SCHEME)) == CURLUE_OK,
                let read = try part(handle, CURLUPART_HOST, flags: 0)
            else { break }
            if read == host { return host }
            host = read
        }
        throw .malformed(reason: "the host is not a valid name")
    }

    /// Whether the last label of a host in lower case is a number, in whatever form.
    ///
    /// - Source: URL Standard, ends in a number checker.
    private static func endsInNumber(_ host: String) -> Bool {
        let dot = UInt8(ascii: ".")
        let name: Substring.UTF8View = host.utf8.last == dot ? host.utf8.dropLast() : host.utf8[...]
        let label = name.split(separator: dot, omittingEmptySubsequences: false).last ?? name
        if label.starts(with: "0x".utf8) {
            return label.dropFirst(2).allSatisfy { $0 &- 0x30 < 10 || $0 &- 0x61 < 6 }
        }
        return !label.isEmpty && label.allSatisfy { $0 &- 0x30 < 10 }
    }

    /// Whether a byte may stand in the name of a host: all but delimiters, and percent signs, which are decoded (RFC 3986
    /// §3.2.2).
    private static func isNameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        default: "-._~!$&'()*+,;=".utf8.contains(byte)
        }
    }

    /// The host with its labels outside ASCII in their ASCII form (RFC 5890 §2.3.2.1).
    private func asciiHost(_ handle: OpaquePointer) throws(URLFailure) -> String {
        var bytes: UnsafeMutablePointer<CChar>?
        guard ccurl_url_ascii_host(handle, &bytes) == CURLUE_OK, let bytes else {
            throw .malformed(reason: "the host is not a valid international name")
        }
        defer { curl_free(bytes) }
        return String(cString: bytes)
    }

    /// One part of the URL in the handle, or nil when the URL does not have it.
    private func part(_ handle: OpaquePointer, _ what: CURLUPart, flags: Int32) throws(URLFailure) -> String? {
        var bytes: UnsafeMutablePointer<CChar>?
        let code = curl_url_get(handle, what, &bytes, UInt32(flags))
        switch code {
        case CURLUE_OK:
            guard let bytes else { return nil }
            defer { curl_free(bytes) }
            guard let text = String(validatingCString: bytes) else {
                throw .malformed(reason: "the URL holds bytes that are not UTF-8")
            }
            return text
        case CURLUE_NO_PORT, CURLUE_NO_QUERY, CURLUE_NO_USER, CURLUE_NO_PASSWORD, CURLUE_NO_HOST, CURLUE_NO_ZONEID:
            return nil
        default:
            throw .malformed(reason: String(cString: curl_url_strerror(code)))
        }
    }

    /// The port of a scheme when the URL names none; 0 when not known here.
    static func defaultPort(of scheme: String) -> UInt16 {
        switch scheme {
        case "http", "ws": 80
        case "https", "wss": 443
        case "ftp": 21
        case "ftps": 990
        default: 0
        }
    }

    private static func hasAuthority(_ text: String.UTF8View) -> Bool {
        guard let colon = text.firstIndex(of: UInt8(ascii: ":")) else { return false }
        return text[..<colon].allSatisfy(URIReference.isSchemeByte) && text[colon...].starts(with: "://".utf8)
    }
}
