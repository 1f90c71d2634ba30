extension UnsafeRawBufferPointer {
    /// The little-endian integer at an offset that is known to be inside, wherever that is.
    @inlinable @inline(__always)
    package func integer<Integer: FixedWidthInteger>(at offset: Int, as type: Integer.Type) -> Integer {
        Integer(littleEndian: loadUnaligned(fromByteOffset: offset, as: type))
    }
}
