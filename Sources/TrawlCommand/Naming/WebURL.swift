import TrawlHTTP
import TrawlURL

/// URLs of what is kept for later fetches: cookies and credentials.
enum WebURL {
    /// The target of a URL as people write it.
    ///
    /// - Throws: For what is no URL, or has a scheme no fetch could use: what is kept for it would never be sent.
    static func target(_ url: String) throws(CommandError) -> TargetURI {
        let target: TargetURI
        do throws(URLFailure) {
            target = try URLParser().parse(URLText.completed(url))
        } catch {
            throw CommandError("\(FailureText.url(url)): \(error.text)")
        }
        guard ["http", "https"].contains(target.scheme) else {
            throw CommandError("\(FailureText.url(url)): the URL has to be http or https")
        }
        return target
    }
}
