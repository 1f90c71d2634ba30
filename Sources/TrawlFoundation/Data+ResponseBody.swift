public import Foundation
public import Trawl

extension Data {
    /// A copy of a body's bytes.
    public init(_ body: ResponseBody) {
        self = body.withUnsafeBytes { bytes in Data(bytes) }
    }
}
