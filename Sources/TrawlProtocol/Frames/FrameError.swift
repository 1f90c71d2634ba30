/// What is wrong with the bytes of a frame. The sender is retired; nothing else is affected.
package enum FrameError: Error, Sendable, Hashable {
    /// The payload length is above `WireProtocol.maximumPayload`.
    case oversize(UInt32)
    /// No such kind of frame in this direction.
    case unknownKind(UInt8)
    /// The reserved bytes are not zero.
    case reservedBits
    /// A value ends beyond the payload.
    case truncated
    /// The payload goes on after its last value.
    case trailingBytes
    /// A value is outside what it may be; the name is the field's.
    case invalid(StaticFieldName)
    /// A frame carries more or fewer descriptors than its content needs.
    case descriptorCount

    /// The name of a message field, for diagnostics.
    package enum StaticFieldName: String, Sendable, Hashable {
        case magic, version, boolean, text, fields, method, status, sink, body, heads, outcome, failure, disposition
        case count, length, collision, path, cache, login, proxy, order, certificate
    }
}
