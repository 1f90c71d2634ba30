import TrawlCoding
import TrawlHTTP
import TrawlPlatform

/// The body of a response, in memory.
///
/// A large one is a sealed memory file that its worker wrote, mapped here without a copy.
public struct ResponseBody: Sendable {
    enum Storage: Sendable {
        case bytes([UInt8])
        case mapped(MappedBytes)
    }

    let storage: Storage
    /// Codings that are still on the bytes, for ``decoded()``.
    let codings: [String]
    let limits: RequestOptions.SizeLimits

    init(_ storage: Storage, codings: [String] = [], limits: RequestOptions.SizeLimits = .init()) {
        self.storage = storage
        self.codings = codings
        self.limits = limits
    }

    static let empty = ResponseBody(.bytes([]))

    /// How many bytes there are.
    public var count: Int {
        switch storage {
        case .bytes(let bytes): bytes.count
        case .mapped(let mapped): mapped.count
        }
    }

    /// Whether there are none.
    public var isEmpty: Bool { count == 0 }

    /// The bytes as an array; a copy when the body is large.
    public var bytes: [UInt8] {
        switch storage {
        case .bytes(let bytes): bytes
        case .mapped(let mapped): mapped.withUnsafeBytes { Array($0) }
        }
    }

    /// Calls `body` with the bytes in place. The buffer lives for the call only.
    ///
    /// - Throws: What `body` does.
    public func withUnsafeBytes<Value, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        switch storage {
        case .bytes(let bytes):
            let result: Result<Value, Failure> = bytes.withUnsafeBytes { buffer in
                do throws(Failure) {
                    return .success(try body(buffer))
                } catch {
                    return .failure(error)
                }
            }
            return try result.get()
        case .mapped(let mapped):
            return try mapped.withUnsafeBytes(body)
        }
    }
}
