/// What a response says about where to go next.
///
/// - Source: RFC 9110 §15.4.
package struct Redirect: Sendable, Hashable {
    /// The value of `Location`, a URI reference still to be resolved.
    package var location: String
    /// The method of the next hop.
    package var method: Method
    /// Whether the body goes along.
    package var keepsBody: Bool

    /// The redirect a response asks for, or nil when it is an answer.
    ///
    /// 300, 304, 305 and 306 are never followed, nor is a 3xx without `Location` or with an empty one.
    package init?(head: ResponseHead, method: Method, mode: RedirectMode) {
        guard mode != .manual, let location = head.fields.reference("Location"),
            let next = Self.next(after: head.status, of: method, mode: mode)
        else { return nil }
        self.location = location
        (self.method, keepsBody) = next
    }

    /// What follows a request that was redirected: its method, and whether the body goes along; nil when nothing does.
    package static func next(after status: UInt16, of method: Method, mode: RedirectMode) -> (Method, keepsBody: Bool)?
    {
        switch status {
        case 301, 302:
            // RFC 9110 §15.4.2, §15.4.3: a user agent may change POST to GET.
            let toGet =
                switch mode {
                case .standard: method == .post
                case .classic: true
                case .preserve, .manual: false
                }
            return (toGet ? .get : method, !toGet)
        case 303:
            // RFC 9110 §15.4.4: retrieval by GET, or HEAD when it was HEAD.
            return (method == .head && mode != .classic ? .head : .get, false)
        case 307, 308:
            // RFC 9110 §15.4.8, §15.4.9: the method must not change.
            return (method, true)
        default:
            return nil
        }
    }

    /// The fields of the next hop.
    ///
    /// Fields that describe or announce the body go with it; secrets do not leave their origin (RFC 9110 §15.4).
    ///
    /// - Parameters:
    ///   - fields: Those of the hop before.
    ///   - here: The origin of the hop before.
    ///   - origin: The origin of the next hop.
    ///   - repeatsCookies: Whether cookies set by hand are for all hops to their origin.
    package func fields(
        from fields: FieldLines, at here: Origin, to origin: Origin, repeatsCookies: Bool = false
    ) -> FieldLines {
        let changesOrigin = here != origin
        var next = fields
        if !keepsBody {
            next.removeAll(where: Self.belongsToBody)
        }
        // Else a cookie set by hand belongs to the request it was set on.
        if changesOrigin || !repeatsCookies { next.removeAll("Cookie") }
        if changesOrigin {
            next.removeAll("Authorization")
            next.removeAll("Proxy-Authorization")
            next.removeAll("Host")
        }
        // RFC 9110 §10.1.3: what was asked for by a secure protocol is not told in clear.
        if here.scheme == "https", origin.scheme == "http" { next.removeAll("Referer") }
        return next
    }

    private static func belongsToBody(_ name: UnsafeRawBufferPointer) -> Bool {
        let prefix = UnsafeRawBufferPointer(rebasing: name.prefix(8))
        return FieldSyntax.equalIgnoringCase(prefix, "Content-")
            || bodyFields.contains { FieldSyntax.equalIgnoringCase(name, $0) }
    }

    /// Beside all of `Content-…`. `Expect` needs a body to wait for (RFC 9110 §10.1.1), `Transfer-Encoding` and
    /// `Trailer` one to frame.
    private static let bodyFields = [
        "Digest", "Repr-Digest", "Last-Modified", "Expect", "Transfer-Encoding", "Trailer",
    ]
}
