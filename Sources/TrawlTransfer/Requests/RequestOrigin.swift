import CTrawlCurl
import Glibc
import TrawlHTTP

/// What requests to one origin have in common: its URL as libcurl parsed it, and their field lines.
///
/// libcurl takes longer to parse a URL than for anything else it does with one, and it prints each `Host` line twice,
/// byte by byte. So what stands before the path is parsed once. The rest goes on the wire as it is, by
/// CURLOPT_REQUEST_TARGET, and `Host` is the first of the field lines. Byte for byte the request is the one that
/// libcurl makes of the whole URL.
final class RequestOrigin {
    /// Scheme, authority and a slash.
    let text: [CChar]
    /// The same for CURLOPT_CURLU.
    let url: OpaquePointer
    /// The value of `Host`, as libcurl would write it.
    let host: [UInt8]
    private var lines: FieldList?

    /// - Parameter text: A URL of `http` or `https` up to the slash after its authority.
    /// - Returns: Nil when libcurl does not take it, or reads another origin in it than is written there.
    init?(_ text: UnsafeBufferPointer<CChar>) {
        guard let url = curl_url() else { return nil }
        self.text = Array(text) + [0]
        self.url = url
        guard curl_url_set(url, CURLUPART_URL, self.text, EasyHandle.urlFlags) == CURLUE_OK,
            let origin = Self.text(of: url), origin.elementsEqual(text), var host = Self.part(url, CURLUPART_HOST)
        else {
            curl_url_cleanup(url)
            return nil
        }
        // The port of the scheme is left out, as in `Host` (RFC 9110 §7.2).
        if let port = Self.part(url, CURLUPART_PORT, CURLU_NO_DEFAULT_PORT) { host += [UInt8(ascii: ":")] + port }
        self.host = host
    }

    deinit { curl_url_cleanup(url) }

    /// The field lines of a request, of which most have the same.
    func lines(_ fields: FieldLines, hasBody: Bool) -> FieldList {
        if let lines, lines.isSame(fields, hasBody: hasBody) { return lines }
        let made = FieldList(fields, hasBody: hasBody, host: host)
        lines = made
        return made
    }

    /// How long `text` is.
    var length: Int { text.count - 1 }

    /// Whether this is the origin of that text.
    func isAt(_ text: UnsafeBufferPointer<CChar>) -> Bool { text.count == length && begins(text) }

    /// Whether a URL begins with this origin, and so is at it: the slash ends the authority.
    func begins(_ url: UnsafeBufferPointer<CChar>) -> Bool {
        guard let start = url.baseAddress, url.count >= length else { return false }
        return memcmp(text, start, length) == 0
    }

    /// Scheme, host and port of a URL as libcurl read them, and a slash.
    static func text(of url: OpaquePointer) -> [CChar]? {
        guard var text = part(url, CURLUPART_SCHEME), var host = part(url, CURLUPART_HOST) else { return nil }
        if let zone = part(url, CURLUPART_ZONEID) {
            // RFC 6874 §2.
            _ = host.popLast()
            host += Array("%25".utf8) + zone
            host.append(UInt8(ascii: "]"))
        }
        text += Array("://".utf8) + host
        if let port = part(url, CURLUPART_PORT) { text += [UInt8(ascii: ":")] + port }
        text.append(UInt8(ascii: "/"))
        return text.map { CChar(bitPattern: $0) }
    }

    /// Whether a URL begins with that origin in so many bytes, and the slash.
    static func isWritten(_ origin: [CChar], in url: UnsafePointer<CChar>, length: Int) -> Bool {
        origin.count == length + 1 && strncmp(origin, url, origin.count) == 0
    }

    private static func part(_ url: OpaquePointer, _ part: CURLUPart, _ flags: Int32 = 0) -> [UInt8]? {
        var text: UnsafeMutablePointer<CChar>?
        guard curl_url_get(url, part, &text, UInt32(flags)) == CURLUE_OK, let text else { return nil }
        defer { curl_free(text) }
        return Array(UnsafeBufferPointer(start: text, count: strlen(text))).map { UInt8(bitPattern: $0) }
    }
}
