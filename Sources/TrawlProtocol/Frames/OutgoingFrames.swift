/// Frames on their way to one peer, and which descriptors leave with which byte of them.
///
/// A socket attaches descriptors to the first byte of one send call, so a frame that brings descriptors starts a
/// stretch of its own. The owner sends one stretch at a time and reports how far it came:
///
///     while !outgoing.isEmpty {
///         let sent = outgoing.withNextStretch { bytes, descriptors in send(bytes, descriptors) }
///         if sent <= 0 { break }
///         for descriptor in outgoing.sent(sent) { close(descriptor) }
///     }
///
/// Descriptors are numbers here: nothing is opened, duplicated or closed.
package struct OutgoingFrames: Sendable {
    /// Descriptors that leave with the byte at `position`.
    private struct Mark: Sendable {
        /// Counted from the first byte ever written.
        var position: Int
        var descriptors: [Int32]
    }

    private var writer = WireWriter()
    /// Bytes at the front of `writer` that have been sent.
    private var offset = 0
    /// Bytes that were sent and are no longer in `writer`.
    private var dropped = 0
    private var marks: [Mark] = []
    /// The latest `data` message: where it begins and ends, counted from the first byte ever written.
    private var lastData: (lease: UInt64, start: Int, end: Int)?

    /// Nothing to send.
    package init() {}

    /// Whether nothing waits to be sent.
    package var isEmpty: Bool { count == 0 }

    /// Bytes that wait to be sent; what back-pressure is measured by.
    package var count: Int { writer.count - offset }

    /// Adds a message. From now on its descriptors belong to the queue, until `sent(_:)` or `removeAll()` gives them
    /// back.
    ///
    /// - Parameter descriptors: As many as `message.descriptorCount`, in that order.
    /// - Returns: False when the message is longer than a frame may be. Then nothing was added, and the descriptors
    ///   still belong to the caller.
    package mutating func append(_ message: CoordinatorMessage, descriptors: [Int32] = []) -> Bool {
        precondition(descriptors.count == message.descriptorCount, "a message brings the descriptors it speaks of")
        let position = end
        guard message.write(to: &writer) else { return false }
        if !descriptors.isEmpty { marks.append(Mark(position: position, descriptors: descriptors)) }
        return true
    }

    /// Adds a `lease` message, as above, without the message in between.
    package mutating func appendLease(_ lease: Lease, descriptors: [Int32] = []) -> Bool {
        precondition(descriptors.count == lease.descriptorCount, "a message brings the descriptors it speaks of")
        let position = end
        guard CoordinatorMessage.writeLease(lease, to: &writer) else { return false }
        if !descriptors.isEmpty { marks.append(Mark(position: position, descriptors: descriptors)) }
        return true
    }

    /// Adds a message, as above.
    package mutating func append(_ message: WorkerMessage, descriptors: [Int32] = []) -> Bool {
        precondition(descriptors.count == message.descriptorCount, "a message brings the descriptors it speaks of")
        let position = end
        guard message.write(to: &writer) else { return false }
        if !descriptors.isEmpty { marks.append(Mark(position: position, descriptors: descriptors)) }
        return true
    }

    /// Adds an `ended` message, as above, without the message in between.
    package mutating func appendEnd(_ end: LeaseEnd, descriptors: [Int32] = []) -> Bool {
        precondition(descriptors.count == end.outcome.descriptorCount, "a message brings the descriptors it speaks of")
        let position = self.end
        guard WorkerMessage.writeEnd(end, to: &writer) else { return false }
        if !descriptors.isEmpty { marks.append(Mark(position: position, descriptors: descriptors)) }
        return true
    }

    /// Adds a `data` message without an array in between, or makes the last message longer that is one of the same lease
    /// and of which nothing has been sent; `bytes` as in `WorkerMessage.writeData`.
    package mutating func appendData(lease: UInt64, _ bytes: UnsafeRawBufferPointer) -> Bool {
        if let last = lastData, last.lease == lease, last.end == end, last.start >= dropped + offset,
            writer.extendData(at: last.start - dropped, by: bytes)
        {
            lastData = (lease: lease, start: last.start, end: end)
            return true
        }
        let start = end
        guard WorkerMessage.writeData(lease: lease, bytes, to: &writer) else { return false }
        lastData = (lease: lease, start: start, end: end)
        return true
    }

    /// Calls `body` with what one send call may carry next: bytes, and the descriptors to attach to it.
    ///
    /// The bytes are empty when nothing waits. Nothing is removed; `sent(_:)` does that.
    package func withNextStretch<Result, Failure: Error>(
        _ body: (_ bytes: UnsafeRawBufferPointer, _ descriptors: [Int32]) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        var descriptors: [Int32] = []
        var limit = writer.count
        if let mark = marks.first {
            if mark.position == dropped + offset {
                descriptors = mark.descriptors
                if marks.count > 1 { limit = marks[1].position - dropped }
            } else {
                limit = mark.position - dropped
            }
        }
        let stretch = offset..<limit
        return try writer.withUnsafeBytes { (bytes) throws(Failure) in
            try body(UnsafeRawBufferPointer(rebasing: bytes[stretch]), descriptors)
        }
    }

    /// Removes `count` bytes of the stretch, which the socket took.
    ///
    /// - Returns: The descriptors that left with them; they belong to the caller again, who usually closes them.
    package mutating func sent(_ count: Int) -> [Int32] {
        precondition(count >= 0 && count <= self.count, "more bytes sent than there were")
        guard count > 0 else { return [] }
        var released: [Int32] = []
        if let mark = marks.first, mark.position == dropped + offset {
            released = mark.descriptors
            marks.removeFirst()
        }
        precondition(marks.first.map { $0.position >= dropped + offset + count } ?? true, "sent beyond the stretch")
        offset += count
        // What was sent is cut off when that moves fewer bytes than were sent, so that a slow peer costs no more than
        // one move of each byte.
        if offset * 2 >= writer.count {
            writer.consume(offset)
            dropped += offset
            offset = 0
        }
        return released
    }

    /// Forgets everything that waits.
    ///
    /// - Returns: The descriptors that were to leave with it; they belong to the caller again.
    package mutating func removeAll() -> [Int32] {
        let released = marks.flatMap(\.descriptors)
        self = OutgoingFrames()
        return released
    }

    private var end: Int { dropped + writer.count }
}
