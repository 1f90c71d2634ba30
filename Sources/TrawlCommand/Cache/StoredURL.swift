import Trawl
import TrawlCache
import TrawlHTTP
import TrawlURL

/// URLs of arguments, as the store has them.
enum StoredURL {
    /// The keys a URL may be stored under, the likeliest first: as it is written, which is how lists show it, and as it
    /// would be requested.
    static func keys(of text: String) throws(CommandError) -> [CacheKey] {
        let completed = UserInformation.removed(from: URLText.completed(text))
        let written = CacheKey(text: String(completed.prefix { $0 != "#" }))
        do throws(URLFailure) {
            let key = CacheKey(try URLParser().parse(completed))
            return key == written ? [key] : [written, key]
        } catch {
            throw CommandError("\(FailureText.url(text)): \(error.text)")
        }
    }
}

/// The beginning of URLs: scheme and host, or these and the beginning of a path.
///
/// Without a slash behind the host all of that origin is meant, and no host whose name goes on.
struct StoredURLPrefix: Equatable {
    private let text: String

    init(_ text: String) {
        let completed = UserInformation.removed(from: URLText.completed(text))
        let slashes = completed.utf8.firstIndex(of: UInt8(ascii: "/")) ?? completed.startIndex
        let start = completed.utf8.index(slashes, offsetBy: 2, limitedBy: completed.endIndex) ?? completed.endIndex
        let end = completed[start...].utf8.firstIndex { "/?#".utf8.contains($0) } ?? completed.endIndex
        var beginning = completed[..<end].lowercased()
        for (scheme, port) in [("http://", ":80"), ("https://", ":443")]
        where beginning.hasPrefix(scheme) && beginning.hasSuffix(port) {
            beginning.removeLast(port.utf8.count)
        }
        let rest = completed[end...]
        self.text = CacheKey.normalised(beginning + (rest.utf8.first == UInt8(ascii: "/") ? "" : "/") + rest)
    }

    func matches(_ url: String) -> Bool { url.utf8.starts(with: text.utf8) }
}
