/// Received bytes, cut into frames.
///
/// The owner reads from its socket straight into the free space and then takes the complete frames. Memory is
/// bounded by one longest frame and one read.
package struct FrameBuffer: Sendable {
    /// One frame: its kind, how many descriptors belong to it, its payload. The payload lives for the call only.
    package struct Frame {
        let kind: UInt8
        /// How many descriptors were sent with this frame.
        package let descriptors: Int
        let payload: UnsafeRawBufferPointer

        @usableFromInline
        init(_ cut: Cut, of bytes: UnsafeRawBufferPointer) {
            kind = cut.kind
            descriptors = cut.descriptors
            payload = UnsafeRawBufferPointer(rebasing: bytes[cut.payload])
        }
    }

    /// Where a complete frame lies in the buffer.
    @usableFromInline
    struct Cut {
        var kind: UInt8
        @usableFromInline var descriptors: Int
        var payload: Range<Int>
    }

    /// Above this a buffer that has run empty is replaced by one of `usualCapacity`.
    private static let largestKept = 1 << 20
    private static let usualCapacity = 256 << 10

    @usableFromInline var storage: [UInt8]
    private var start = 0
    @usableFromInline var end = 0

    /// An empty buffer with room for `capacity` bytes.
    package init(capacity: Int = 16 << 10) {
        storage = [UInt8](repeating: 0, count: max(capacity, 4096))
    }

    /// Bytes received and not yet taken.
    package var count: Int { end - start }

    /// Calls `body` with at least `minimum` bytes of free space; it returns how many of them it filled.
    ///
    /// - Returns: What `body` returned.
    @inlinable
    package mutating func fill<Failure: Error>(
        minimum: Int = 8 << 10, _ body: (UnsafeMutableRawBufferPointer) throws(Failure) -> Int
    ) throws(Failure) -> Int {
        makeRoom(minimum)
        let from = end
        var span = storage.mutableSpan
        let filled = try span.withUnsafeMutableBytes { (bytes) throws(Failure) in
            try body(UnsafeMutableRawBufferPointer(rebasing: bytes[from...]))
        }
        add(filled)
        return filled
    }

    /// Calls `body` with a frame that was cut off just before.
    @inlinable @inline(__always)
    mutating func withFrame<Result>(
        _ cut: Cut, _ body: (Frame) throws(FrameError) -> Result
    ) throws(FrameError) -> Result {
        defer { reset() }
        return try storage.span.withUnsafeBytes { (bytes) throws(FrameError) in try body(Frame(cut, of: bytes)) }
    }

    /// How many descriptors may have come for the frame that is not complete yet, at most.
    var descriptorsExpected: Int {
        if count == 0 { return 0 }
        return count > 5 ? Int(storage[start + 5]) : WireProtocol.maximumDescriptors
    }

    /// Takes the next complete frame off the count of bytes; the bytes stay until `reset()` or `makeRoom(_:)`.
    @usableFromInline
    mutating func cutFrame() throws(FrameError) -> Cut? {
        guard count >= WireProtocol.headerLength else { return nil }
        let start = start
        let (length, kind, descriptors, reserved) = storage.span.withUnsafeBytes { bytes in
            (
                UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: start, as: UInt32.self)),
                bytes[start + 4], bytes[start + 5],
                bytes.loadUnaligned(fromByteOffset: start + 6, as: UInt16.self)
            )
        }
        guard length <= WireProtocol.maximumPayload else { throw .oversize(length) }
        guard reserved == 0 else { throw .reservedBits }
        guard Int(descriptors) <= WireProtocol.maximumDescriptors else { throw .descriptorCount }
        let payloadStart = start + WireProtocol.headerLength
        guard count >= WireProtocol.headerLength + Int(length) else { return nil }
        self.start = payloadStart + Int(length)
        return Cut(kind: kind, descriptors: Int(descriptors), payload: payloadStart..<self.start)
    }

    /// Goes back to the front when everything was taken.
    @usableFromInline
    mutating func reset() {
        guard start == end else { return }
        start = 0
        end = 0
        if storage.count > Self.largestKept { storage = [UInt8](repeating: 0, count: Self.usualCapacity) }
    }

    @usableFromInline
    mutating func makeRoom(_ minimum: Int) {
        if storage.count - end >= minimum { return }
        if start > 0 {
            storage.withUnsafeMutableBytes { bytes in
                bytes.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[start..<end]))
            }
            end -= start
            start = 0
        }
        if storage.count - end < minimum {
            storage += [UInt8](repeating: 0, count: max(minimum, storage.count))
        }
    }

    @usableFromInline
    mutating func add(_ filled: Int) {
        precondition(filled >= 0 && filled <= storage.count - end, "more bytes filled than there was room for")
        end += filled
        // A read that filled all the room would have taken more. A quiet stream never touches the pages.
        if end == storage.count, storage.count < Self.usualCapacity {
            storage += [UInt8](repeating: 0, count: storage.count)
        }
    }
}
