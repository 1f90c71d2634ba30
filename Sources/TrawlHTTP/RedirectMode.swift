/// How a fetch goes on after a redirect.
package enum RedirectMode: UInt8, Sendable, Hashable, Codable {
    /// Never: the 3xx response is the answer.
    case manual
    /// RFC 9110: 301 and 302 change POST only, 303 changes everything but HEAD, 307 and 308 change nothing.
    case standard
    /// As ASIHTTPRequest did: 301, 302 and 303 become GET for every method.
    case classic
    /// 301 and 302 keep method and body too; 303 still becomes GET.
    case preserve
}
