/// Frames as they come from one peer, with the descriptors that belong to them.
///
/// Descriptors arrive beside the bytes, in the order they were sent and not later than the first byte of their frame.
/// They wait in a queue, and each frame takes as many as its header says. After every read the owner adds first the
/// descriptors and then takes all complete frames:
///
///     let count = try incoming.fill { buffer in try receive(into: buffer, &descriptors) }
///     incoming.add(descriptors)
///     while let (message, own) = try incoming.next(WorkerMessage.init) { … }
///
/// After an error the stream is of no further use; `removeDescriptors()` says what is still to be closed.
package struct IncomingFrames: Sendable {
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

    /// Empties the queue of descriptors; they belong to the caller, who closes them.
    package mutating func removeDescriptors() -> [Int32] {
        defer { descriptors = [] }
        return descriptors
    }

    private mutating func nextMessage<Message>(
        _ decode: (FrameBuffer.Frame) throws(FrameError) -> Message
    ) throws(FrameError) -> (message: Message, descriptors: [Int32])? {
        guard let cut = try buffer.cutFrame() else {
            if !descriptors.isEmpty { try checkWaiting() }
            return nil
        }
        guard cut.descriptors <= descriptors.count else { throw .descriptorCount }
        let message = try buffer.withFrame(cut, decode)
        return (message, cut.descriptors > 0 ? take(cut.descriptors) : [])
    }

    /// Descriptors without a byte of their frame, or more than its header says, belong to nothing.
    private func checkWaiting() throws(FrameError) {
        guard descriptors.count <= buffer.descriptorsExpected else { throw .descriptorCount }
    }

    private mutating func take(_ count: Int) -> [Int32] {
        let taken = Array(descriptors[..<count])
        descriptors.removeFirst(count)
        return taken
    }
}
