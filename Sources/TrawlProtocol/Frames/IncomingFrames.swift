package import TrawlHTTP

/// Frames as they come from one peer, with the descriptors that belong to them.
///
/// Descriptors arrive beside the bytes, in the order they were sent and not later than the first byte of their frame.
/// They wait in a queue, and each frame takes as many as its header says. After every read the owner adds first the
/// descriptors and then takes all complete frames:
///
///     let count = try incoming.fill { buffer in try receive(into: buffer, &descriptors) }
///     incoming.add(descriptors)
///     while let (message, own) = try incoming.next(WorkerMessage.read) { … }
///
/// Leases and their ends are the largest there are: who takes them without a message around them asks for frames in
/// place of messages, by `nextFrame()`, then for what a frame says, then for its descriptors.
///
/// After an error the stream is of no further use; `removeDescriptors()` says what is still to be closed.
package struct IncomingFrames: Sendable {
    /// A complete frame that was cut off. What it says and then its descriptors are to be taken, once each, before
    /// anything else is received or cut off.
    package struct Waiting {
        fileprivate let cut: FrameBuffer.Cut

        /// Whether it is a lease.
        package var isLease: Bool { cut.kind == WireProtocol.Kind.lease.rawValue }
        /// Whether it is the end of one.
        package var isEnd: Bool { cut.kind == WireProtocol.Kind.ended.rawValue }
    }

    private var buffer: FrameBuffer
    private var descriptors: [Int32] = []

    /// Nothing received yet; room for `capacity` bytes.
    package init(capacity: Int = 16 << 10) {
        buffer = FrameBuffer(capacity: capacity)
    }

    /// Bytes received and not yet taken.
    package var count: Int { buffer.count }

    /// Calls `body` with at least `minimum` bytes of free space; it returns how many of them it filled.
    ///
    /// - Returns: What `body` returned.
    package mutating func fill<Failure: Error>(
        minimum: Int = 8 << 10, _ body: (UnsafeMutableRawBufferPointer) throws(Failure) -> Int
    ) throws(Failure) -> Int {
        try buffer.fill(minimum: minimum, body)
    }

    /// Adds descriptors that came with the last bytes. From now on they belong to the queue.
    package mutating func add(_ received: some Sequence<Int32>) {
        descriptors.append(contentsOf: received)
    }

    /// The next complete message from a worker, decoded by `decode`, with the descriptors of its frame, which
    /// belong to the caller.
    ///
    /// The message has checked that there are as many as it needs, unless it is a greeting of another version.
    /// - Returns: Nil when no frame is complete yet.
    /// - Throws: `.descriptorCount` when a frame lacks descriptors, or more have come than the frames begun can take,
    ///   so that a peer cannot fill the table of open files; whatever `decode` throws. The descriptors of that frame
    ///   stay in the queue.
    package mutating func next(
        _ decode: (FrameBuffer.Frame) throws(FrameError) -> WorkerMessage
    ) throws(FrameError) -> (message: WorkerMessage, descriptors: [Int32])? {
        try nextMessage(decode)
    }

    /// The next complete message from a coordinator, as above. (Not one generic method: these are compiled for their
    /// types here, which halves the time of a small message.)
    package mutating func next(
        _ decode: (FrameBuffer.Frame) throws(FrameError) -> CoordinatorMessage
    ) throws(FrameError) -> (message: CoordinatorMessage, descriptors: [Int32])? {
        try nextMessage(decode)
    }

    /// The next complete frame; nil when there is none yet.
    ///
    /// - Throws: As `next`.
    package mutating func nextFrame() throws(FrameError) -> Waiting? {
        guard let cut = try buffer.cutFrame() else {
            if !descriptors.isEmpty { try checkWaiting() }
            return nil
        }
        guard cut.descriptors <= descriptors.count else { throw .descriptorCount }
        return Waiting(cut: cut)
    }

    /// The lease that a frame is.
    ///
    /// - Parameter knownFields: Those of an earlier lease. They are shared when this one has the same, as most have.
    package mutating func lease(of frame: Waiting, knownFields: FieldLines) throws(FrameError) -> Lease {
        try buffer.withFrame(frame.cut) { (frame) throws(FrameError) -> Lease in
            try CoordinatorMessage.readLease(frame, knownFields: knownFields)
        }
    }

    /// The end of a lease that a frame is.
    package mutating func end(of frame: Waiting) throws(FrameError) -> LeaseEnd {
        try buffer.withFrame(frame.cut, WorkerMessage.readEnd)
    }

    /// What a coordinator says in a frame.
    package mutating func coordinatorMessage(of frame: Waiting) throws(FrameError) -> CoordinatorMessage {
        try buffer.withFrame(frame.cut, CoordinatorMessage.read)
    }

    /// What a worker says in a frame.
    package mutating func workerMessage(of frame: Waiting) throws(FrameError) -> WorkerMessage {
        try buffer.withFrame(frame.cut, WorkerMessage.read)
    }

    /// The descriptors of a frame, as many as its header says; they belong to the caller.
    package mutating func takeDescriptors(of frame: Waiting) -> [Int32] {
        let count = frame.cut.descriptors
        if count == 0 { return [] }
        let taken = Array(descriptors[..<count])
        descriptors.removeFirst(count)
        return taken
    }

    /// Empties the queue of descriptors; they belong to the caller, who closes them.
    package mutating func removeDescriptors() -> [Int32] {
        defer { descriptors = [] }
        return descriptors
    }

    private mutating func nextMessage<Message>(
        _ decode: (FrameBuffer.Frame) throws(FrameError) -> Message
    ) throws(FrameError) -> (message: Message, descriptors: [Int32])? {
        guard let frame = try nextFrame() else { return nil }
        let message = try buffer.withFrame(frame.cut, decode)
        return (message, takeDescriptors(of: frame))
    }

    /// Descriptors without a byte of their frame, or more than its header says, belong to nothing.
    private func checkWaiting() throws(FrameError) {
        guard descriptors.count <= buffer.descriptorsExpected else { throw .descriptorCount }
    }
}
