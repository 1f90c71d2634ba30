package import TrawlProtocol

/// What a transfer loop has to say to the coordinator, waiting to be sent.
package final class TransferOutput {
    /// Above this many bytes transfers rest until half of them have gone.
    package static let highWater = 1 << 20

    /// The frames; the owner of the socket takes them. One thread's, and never lent while they are used otherwise.
    @exclusivity(unchecked)
    package var frames = OutgoingFrames()
    /// Whether transfers rest because too much waits here.
    package internal(set) var isCongested = false

    /// Nothing to say yet.
    package init() {}

    /// Adds a message; the descriptor belongs to the queue.
    func send(_ message: WorkerMessage, descriptor: Int32? = nil) {
        if let descriptor {
            frames.append(message, descriptors: [descriptor])
        } else {
            frames.append(message)
        }
        if frames.count > Self.highWater { isCongested = true }
    }

    /// Adds a piece of a streamed body.
    func sendData(lease: UInt64, _ bytes: UnsafeRawBufferPointer) {
        frames.appendData(lease: lease, bytes)
        if frames.count > Self.highWater { isCongested = true }
    }
}
