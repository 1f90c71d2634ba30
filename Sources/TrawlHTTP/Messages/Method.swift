/// A request method: any token, compared with its case.
///
/// - Source: RFC 9110 §9.
package struct Method: Sendable, Hashable {
    /// The token as it goes on the wire.
    package let name: String

    /// The method of that name, or nil when it is not a token.
    package init?(_ name: String) {
        guard !name.isEmpty, name.utf8.allSatisfy(FieldSyntax.isTokenByte) else { return nil }
        self.name = name
    }

    private init(known name: String) { self.name = name }

    /// Retrieves a representation (RFC 9110 §9.3.1).
    package static let get = Method(known: "GET")
    /// As GET, without the body (RFC 9110 §9.3.2).
    package static let head = Method(known: "HEAD")
    /// Gives the resource something to process (RFC 9110 §9.3.3).
    package static let post = Method(known: "POST")
    /// Replaces the representation (RFC 9110 §9.3.4).
    package static let put = Method(known: "PUT")
    /// Removes the representation (RFC 9110 §9.3.5).
    package static let delete = Method(known: "DELETE")
    /// Changes the resource in part (RFC 5789).
    package static let patch = Method(known: "PATCH")
    /// Asks what is possible (RFC 9110 §9.3.7).
    package static let options = Method(known: "OPTIONS")
    /// Asks a proxy for a tunnel (RFC 9110 §9.3.6).
    package static let connect = Method(known: "CONNECT")
    /// Asks for the request as it arrived (RFC 9110 §9.3.8).
    package static let trace = Method(known: "TRACE")

    /// Whether the client asks for nothing but information (RFC 9110 §9.2.1).
    package var isSafe: Bool {
        self == .get || self == .head || self == .options || self == .trace
    }

    /// Whether sending the request twice means the same as sending it once (RFC 9110 §9.2.2).
    package var isIdempotent: Bool {
        isSafe || self == .put || self == .delete
    }

    /// Whether a request of this method with an empty body still announces its length (RFC 9110 §8.6).
    package var announcesEmptyBody: Bool {
        self == .post || self == .put || self == .patch
    }
}
