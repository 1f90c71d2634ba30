/// Field names the rules know, told apart without making text of them.
enum KnownField: UInt8 {
    case cacheControl, pragma, range, ifRange, ifNoneMatch, ifModifiedSince, ifMatch, ifUnmodifiedSince, authorization
    case age, date, expires, lastModified, etag, vary
    case contentLength, contentEncoding, contentRange, contentType, contentLanguage, contentMD5, contentDigest
    case contentLocation, location, clearSiteData
    case connection, keepAlive, proxyConnection, te, trailer, transferEncoding, upgrade
    case proxyAuthenticate, proxyAuthenticationInfo, proxyAuthorization
    case accept, acceptEncoding, acceptLanguage, acceptCharset, cookie, host

    /// The field of that name, in whatever case; nil when the rules do not know it.
    init?(_ name: UnsafeRawBufferPointer) {
        guard let field = Self.find(name) else { return nil }
        self = field
    }

    private static func find(_ name: UnsafeRawBufferPointer) -> KnownField? {
        @inline(__always)
        func on(_ text: StaticString, _ field: KnownField) -> KnownField? { name.isToken(text) ? field : nil }
        switch name.count {
        case 2: return on("te", .te)
        case 3: return on("age", .age)
        case 4: return on("date", .date) ?? on("etag", .etag) ?? on("vary", .vary) ?? on("host", .host)
        case 5: return on("range", .range)
        case 6: return on("accept", .accept) ?? on("cookie", .cookie) ?? on("pragma", .pragma)
        case 7: return on("expires", .expires) ?? on("trailer", .trailer) ?? on("upgrade", .upgrade)
        case 8: return on("if-range", .ifRange) ?? on("if-match", .ifMatch) ?? on("location", .location)
        case 10: return on("connection", .connection) ?? on("keep-alive", .keepAlive)
        case 11: return on("content-md5", .contentMD5)
        case 12: return on("content-type", .contentType)
        case 13:
            return on("cache-control", .cacheControl) ?? on("last-modified", .lastModified)
                ?? on("authorization", .authorization) ?? on("if-none-match", .ifNoneMatch)
                ?? on("content-range", .contentRange)
        case 14:
            return on("content-length", .contentLength) ?? on("content-digest", .contentDigest)
                ?? on("accept-charset", .acceptCharset)
        case 15:
            return on("accept-encoding", .acceptEncoding) ?? on("accept-language", .acceptLanguage)
                ?? on("clear-site-data", .clearSiteData)
        case 16:
            return on("content-encoding", .contentEncoding) ?? on("content-language", .contentLanguage)
                ?? on("content-location", .contentLocation) ?? on("proxy-connection", .proxyConnection)
        case 17: return on("if-modified-since", .ifModifiedSince) ?? on("transfer-encoding", .transferEncoding)
        case 18: return on("proxy-authenticate", .proxyAuthenticate)
        case 19: return on("if-unmodified-since", .ifUnmodifiedSince) ?? on("proxy-authorization", .proxyAuthorization)
        case 25: return on("proxy-authentication-info", .proxyAuthenticationInfo)
        default: return nil
        }
    }

    /// Fields that belong to one connection or to a proxy and are never stored (RFC 9111 §3.1, RFC 9110 §7.6.1).
    var isHopByHop: Bool {
        switch self {
        case .connection, .keepAlive, .proxyConnection, .te, .trailer, .transferEncoding, .upgrade,
            .proxyAuthenticate, .proxyAuthenticationInfo, .proxyAuthorization:
            true
        default: false
        }
    }

    /// Fields without which stored bytes mean something else, or go to the wrong request. They are not left out when a
    /// server names them in `Connection`, which it must not (RFC 9110 §7.6.1), or in `no-cache`.
    var saysWhatTheBytesAre: Bool {
        switch self {
        case .contentEncoding, .contentType, .contentRange, .contentLength, .vary: true
        default: false
        }
    }

    /// Digests of the content of the very message they come with (RFC 9530 §2, RFC 1864). `Repr-Digest` is of the
    /// whole representation.
    var isContentDigest: Bool { self == .contentDigest || self == .contentMD5 }

    /// Values that are lists whose order means nothing and whose members are told apart without regard to case.
    var isPreferenceList: Bool {
        self == .acceptEncoding || self == .acceptLanguage || self == .acceptCharset
    }
}
