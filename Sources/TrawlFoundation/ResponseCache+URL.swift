public import Foundation
public import Trawl

extension ResponseCache {
    /// The file of a stored body, as a URL: ``ResponseCache/bodyFile(for:)`` says when there is one, and what may be
    /// done with it.
    ///
    /// - Throws: What makes the request impossible; ``FetchError/Code/storeUnusable``.
    public func bodyURL(for request: Request) throws(FetchError) -> URL? {
        guard let path = try bodyFile(for: request) else { return nil }
        return URL(fileURLWithPath: path, isDirectory: false)
    }
}
