/// Where the body of an ended hop is.
package enum BodyDelivery: Sendable, Hashable {
    /// There was none, or it was dropped; so many decoded bytes went by.
    case discarded(length: UInt64)
    /// Here; at most `WireProtocol.maximumInlineBody` bytes.
    case inline([UInt8])
    /// In a sealed memory file whose descriptor came with the frame.
    case memory(length: UInt64)
    /// In a file beneath the lease's root.
    /// - Parameters:
    ///   - name: Its path relative to the root when it is not the one the lease named; never leading out.
    ///   - isAdopted: Whether it was there already, with the same bytes, and may be another's.
    case file(length: UInt64, name: String? = nil, isAdopted: Bool = false)
    /// In a file without a name, which is to get one beneath the lease's root; its descriptor came with the frame.
    /// - Parameter name: The path it is to have when it is not the one the lease named; never leading out.
    case unnamed(length: UInt64, name: String? = nil)
    /// In the descriptor the lease brought.
    case descriptor(length: UInt64)
    /// Sent as `data` frames.
    case streamed(length: UInt64)

    /// Decoded bytes of the body.
    package var length: UInt64 {
        switch self {
        case .discarded(let length), .memory(let length), .file(let length, _, _), .unnamed(let length, _),
            .descriptor(let length), .streamed(let length):
            length
        case .inline(let bytes): UInt64(bytes.count)
        }
    }
}
