/// How a fetch goes on after a redirect.
package enum RedirectMode: UInt8, Sendable, Hashable, Codable {
    /// Never: the 3xx response is the answer.
    case manual
    /// RFC 9110: 301 and 302 change POST only, 303 changes everything but HEAD, 307 and 308 change nothing.
    case standard
    /// The methods of ASIHTTPRequest: 301, 302 and 303 become GET for every method. Fields stay as in the other modes
    /// (ASI-RED-03).
    case classic
    /// 301 and 302 keep method and body too; 303 still becomes GET.
    case preserve
}
