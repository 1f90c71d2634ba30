/// The body of a request.
package enum RequestBody: Sendable, Hashable {
    /// There is none.
    case none
    /// At most `WireProtocol.maximumInlineBody` bytes.
    case inline([UInt8])
    /// So many bytes of a file whose descriptor came with the frame, from its start.
    case descriptor(length: UInt64)
}
