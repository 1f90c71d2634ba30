/// The protocol version a response was spoken in.
package enum HTTPVersion: UInt8, Sendable, Hashable, CaseIterable {
    /// RFC 1945.
    case http1_0 = 10
    /// RFC 9112.
    case http1_1 = 11
    /// RFC 9113.
    case http2 = 20

    /// As written in a status line.
    package var text: String {
        switch self {
        case .http1_0: "HTTP/1.0"
        case .http1_1: "HTTP/1.1"
        case .http2: "HTTP/2"
        }
    }
}
