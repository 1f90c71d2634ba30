/// A parsed and normalised absolute URI of a fetch.
///
/// Scheme and host are in lower case, the host in ASCII form, dot segments are resolved, a default port is left out
/// and an empty path is `/`. User information never is part of `text`.
///
/// - Source: RFC 3986 §3, §6.2; RFC 9110 §4.2.
package struct TargetURI: Sendable, Hashable {
    /// What connections and credentials are bound to.
    package var origin: Origin
    /// The path, starting with a slash.
    package var path: String
    /// The query without its question mark, or nil.
    package var query: String?
    /// The fragment without its number sign, or nil; never sent.
    package var fragment: String?
    /// The user part of the authority, percent-decoded, or nil; never sent as such.
    package var user: String?
    /// The password part of the authority, percent-decoded, or nil.
    package var password: String?
    /// The URI as it is requested: without user information and fragment.
    package var text: String

    /// A URI of its parts. `text` must be what they say.
    package init(
        origin: Origin, path: String, query: String?, fragment: String?, user: String?, password: String?, text: String
    ) {
        self.origin = origin
        self.path = path
        self.query = query
        self.fragment = fragment
        self.user = user
        self.password = password
        self.text = text
    }

    /// The URI with its fragment, still without user information: what a person is shown.
    package var textWithFragment: String {
        fragment.map { text + "#" + $0 } ?? text
    }
}
