/// A parsed and normalised absolute URI of a fetch.
///
/// Scheme and host are in lower case, the host in ASCII form, dot segments are resolved, a default port is left out
/// and an empty path is `/`. User information never is part of `text`.
///
/// - Source: RFC 3986 §3, §6.2; RFC 9110 §4.2.
package struct TargetURI: Sendable, Hashable {
    /// What a URI is made of.
    private struct Parts: Sendable, Hashable {
        var origin: Origin
        var text: String
        /// Where path and query start in `text`, in bytes; the query's question mark, when there is one.
        var pathStart: UInt32
        var queryStart: UInt32?
        var fragment: String?
        var user: String?
        var password: String?
    }

    /// A fetch's target is copied from hand to hand: one reference, and not six.
    private final class Shared: Sendable {
        let parts: Parts
        let isHTTPS: Bool

        init(_ parts: Parts) {
            self.parts = parts
            isHTTPS = parts.origin.scheme == "https"
        }
    }

    private var shared: Shared

    private var parts: Parts {
        get { shared.parts }
        set { shared = Shared(newValue) }
    }

    /// What connections and credentials are bound to.
    package var origin: Origin { shared.parts.origin }
    /// The origin's scheme, without a copy of the rest.
    package var scheme: String { shared.parts.origin.scheme }
    /// Whether the scheme is `https`: asked many times on the way of every fetch.
    package var isHTTPS: Bool { shared.isHTTPS }
    /// The origin's host, without a copy of the rest.
    package var host: String { shared.parts.origin.host }
    /// The URI as it is requested: without user information and fragment.
    package var text: String { shared.parts.text }
    /// How many bytes of `text` name the origin: scheme and authority. The path comes behind them.
    package var originLength: Int { Int(shared.parts.pathStart) }
    /// The fragment without its number sign, or nil; never sent.
    package var fragment: String? {
        get { shared.parts.fragment }
        set { parts.fragment = newValue }
    }
    /// The user part of the authority, percent-decoded, or nil; never sent as such.
    package var user: String? {
        get { shared.parts.user }
        set { parts.user = newValue }
    }
    /// The password part of the authority, percent-decoded, or nil.
    package var password: String? {
        get { shared.parts.password }
        set { parts.password = newValue }
    }

    /// A URI of its parts. `text` must be what they say.
    package init(
        origin: Origin, path: String, query: String?, fragment: String?, user: String?, password: String?, text: String
    ) {
        // Kept within the text whatever the parts are.
        let queryStart = query.map { max(0, text.utf8.count - $0.utf8.count - 1) }
        let pathStart = max(0, (queryStart ?? text.utf8.count) - path.utf8.count)
        shared = Shared(
            Parts(
                origin: origin, text: text, pathStart: UInt32(truncatingIfNeeded: pathStart),
                queryStart: queryStart.map { UInt32(truncatingIfNeeded: $0) }, fragment: fragment, user: user,
                password: password))
    }

    /// A URI without fragment and user information whose parts are known by their places in its text, in bytes.
    package init(origin: Origin, text: String, pathStart: Int, queryStart: Int?) {
        shared = Shared(
            Parts(
                origin: origin, text: text, pathStart: UInt32(truncatingIfNeeded: pathStart),
                queryStart: queryStart.map { UInt32(truncatingIfNeeded: $0) }))
    }

    package static func == (left: TargetURI, right: TargetURI) -> Bool {
        left.shared === right.shared || left.parts == right.parts
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(parts) }

    /// The path, starting with a slash.
    package var path: String {
        withPathAndQuery { path, _ in String(decoding: path, as: UTF8.self) }
    }

    /// The query without its question mark, or nil.
    package var query: String? {
        withPathAndQuery { _, query in query.map { String(decoding: $0, as: UTF8.self) } }
    }

    /// Lends the bytes of path and query.
    package func withPathAndQuery<Value>(
        _ body: (_ path: UnsafeBufferPointer<UInt8>, _ query: UnsafeBufferPointer<UInt8>?) -> Value
    ) -> Value {
        var text = text
        return text.withUTF8 { text in
            let pathEnd = shared.parts.queryStart.map(Int.init) ?? text.count
            let query = pathEnd < text.count ? UnsafeBufferPointer(rebasing: text[(pathEnd + 1)...]) : nil
            return body(UnsafeBufferPointer(rebasing: text[Int(shared.parts.pathStart)..<pathEnd]), query)
        }
    }

    /// Whether a `Host` field of that value names the same authority, whatever the case of letters; a default port may
    /// be there or not.
    package func hasAuthority(_ value: UnsafeRawBufferPointer) -> Bool {
        let (origin, pathStart) = (origin, shared.parts.pathStart)
        var text = text
        return text.withUTF8 { text in
            let start = origin.scheme.utf8.count + 3
            guard start <= Int(pathStart), Int(pathStart) <= text.count else { return false }
            let authority = UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: text[start..<Int(pathStart)]))
            if FieldSyntax.equalIgnoringCase(value, authority) { return true }
            let port: StaticString = isHTTPS ? ":443" : ":80"
            let length = value.count - port.utf8CodeUnitCount
            guard origin.explicitPort == nil, length == authority.count else { return false }
            let (host, rest) = (UnsafeRawBufferPointer(rebasing: value[..<length]), value[length...])
            return FieldSyntax.equalIgnoringCase(host, authority)
                && rest.elementsEqual(UnsafeBufferPointer(start: port.utf8Start, count: rest.count))
        }
    }

    /// The URI with its fragment, still without user information: what a person is shown.
    package var textWithFragment: String {
        fragment.map { text + "#" + $0 } ?? text
    }
}
