public import Foundation
public import Trawl

extension FetchError: LocalizedError {
    /// Code and detail, in English: what `localizedDescription` gives.
    public var errorDescription: String? { description }
}
