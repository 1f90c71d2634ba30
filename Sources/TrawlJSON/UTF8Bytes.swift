/// Bytes that may be UTF-8 (RFC 3629).
package enum UTF8Bytes {
    /// Where the first byte is that cannot be part of it; nil when there is none.
    package static func firstFault(in bytes: UnsafeRawBufferPointer) -> Int? {
        bytes.withMemoryRebound(to: UInt8.self) { bytes in
            do throws(UTF8.ValidationError) {
                _ = try UTF8Span(validating: bytes.span)
                return nil
            } catch {
                return error.byteOffsets.lowerBound
            }
        }
    }

    /// Whether all of it is UTF-8.
    package static func areValid(_ bytes: UnsafeRawBufferPointer) -> Bool { firstFault(in: bytes) == nil }
}
