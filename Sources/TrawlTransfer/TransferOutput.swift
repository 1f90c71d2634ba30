import Glibc
import TrawlHTTP
package import TrawlProtocol

/// What a transfer loop has to say to the coordinator, waiting to be sent.
package final class TransferOutput {
    /// Above this many bytes transfers rest until half of them have gone.
    package static let highWater = 1 << 20

    /// The frames; the owner of the socket takes them. One thread's, and never lent while they are used otherwise.
    @exclusivity(unchecked)
    package var frames = OutgoingFrames()
    /// Whether transfers rest because too much waits here. Read for each piece of a body.
    @exclusivity(unchecked)
    package internal(set) var isCongested = false

    /// Nothing to say yet.
    package init() {}

    /// Adds a message without a descriptor, unless it is longer than a frame may be: nothing is waited for but heads and
    /// ends, which have methods of their own.
    func send(_ message: WorkerMessage) {
        _ = frames.append(message)
        noteLength()
    }

    /// Adds a head.
    ///
    /// - Returns: False when it is longer than a frame may be; then nothing was added.
    func sendHead(lease: UInt64, _ head: ResponseHead, asks: HeadQuestions, isStored: Bool) -> Bool {
        defer { noteLength() }
        return frames.append(.head(lease: lease, head, asks: asks, isStored: isStored))
    }

    /// Adds the end of a lease; the descriptor belongs to the queue. A lease ends in any case: what is longer than a frame
    /// may be is told in short, and the descriptor closed.
    func sendEnd(_ end: LeaseEnd, descriptor: Int32?) {
        let isAdded =
            if let descriptor { frames.appendEnd(end, descriptors: [descriptor]) } else { frames.appendEnd(end) }
        if !isAdded {
            if let descriptor { _ = Glibc.close(descriptor) }
            _ = frames.appendEnd(end.shortened)
        }
        noteLength()
    }

    /// Adds a piece of a streamed body: no more than fits a frame.
    func sendData(lease: UInt64, _ bytes: UnsafeRawBufferPointer) {
        _ = frames.appendData(lease: lease, bytes)
        noteLength()
    }

    private func noteLength() {
        if frames.count > Self.highWater { isCongested = true }
    }
}
