public import Foundation
public import Trawl

extension Request {
    /// A request for a URL; one that is relative to another is resolved.
    public init(_ url: URL) {
        self.init(url.absoluteString)
    }
}
