import TrawlHTTP

/// What one hop took, as the worker measured it.
///
/// Times are microseconds since the transfer began, 0 for a phase that did not happen. Those before the request is sent
/// are bounded by the limit of a connection; a response may come after hours, and take days. Each running fetch has
/// one of these: the order leaves no gaps.
package struct HopMetrics: Sendable, Hashable {
    /// The address was known.
    package var nameResolved: UInt32 = 0
    /// The connection stood, without TLS.
    package var connected: UInt32 = 0
    /// The TLS handshake was done.
    package var secured: UInt32 = 0
    /// The request was on its way.
    package var requestSent: UInt32 = 0
    /// The first byte of the response was there.
    package var firstByte: UInt64 = 0
    /// The hop was over.
    package var ended: UInt64 = 0
    /// The worker's number for the connection; 0 when none was made.
    package var connection: UInt32 = 0
    /// The peer's port; 0 when there was no connection.
    package var remotePort: UInt16 = 0
    /// Whether an earlier hop had used the connection.
    package var reusedConnection = false
    /// Whether the request went out more than once, since a connection that had been used before ended under it.
    package var repeatedRequest = false
    /// Bytes of heads and body as they came from the wire, framing included.
    package var bytesReceived: UInt64 = 0
    /// Bytes of the body without its framing, content codings still on, from wherever it came.
    package var bodyBytes: UInt64 = 0
    /// Bytes of head and body of the request.
    package var bytesSent: UInt64 = 0
    /// Bytes of the request's body among them.
    package var bodyBytesSent: UInt64 = 0
    /// The peer's address, without its port; empty when there was no connection.
    package var remoteAddress = ""

    /// Nothing measured.
    package init() {}

    func write(to writer: inout WireWriter) {
        writer.writeBlock(Self.numbersLength) { block in
            block.store(nameResolved, at: 0)
            block.store(connected, at: 4)
            block.store(secured, at: 8)
            block.store(requestSent, at: 12)
            block.store(firstByte, at: 16)
            block.store(ended, at: 24)
            block.store(connection, at: 32)
            block.store(reusedConnection ? UInt8(1) : 0, at: 36)
            block.store(repeatedRequest ? UInt8(1) : 0, at: 37)
            block.store(bytesReceived, at: 38)
            block.store(bytesSent, at: 46)
            block.store(bodyBytes, at: 54)
            block.store(bodyBytesSent, at: 62)
        }
        writer.write(remoteAddress)
        writer.write(remotePort)
    }

    /// Of the numbers of a frame, which have been checked.
    private init(_ block: UnsafeRawBufferPointer, remoteAddress: String, remotePort: UInt16) {
        nameResolved = block.integer(at: 0, as: UInt32.self)
        connected = block.integer(at: 4, as: UInt32.self)
        secured = block.integer(at: 8, as: UInt32.self)
        requestSent = block.integer(at: 12, as: UInt32.self)
        firstByte = block.integer(at: 16, as: UInt64.self)
        ended = block.integer(at: 24, as: UInt64.self)
        connection = block.integer(at: 32, as: UInt32.self)
        self.remotePort = remotePort
        reusedConnection = block[36] == 1
        repeatedRequest = block[37] == 1
        bytesReceived = block.integer(at: 38, as: UInt64.self)
        bytesSent = block.integer(at: 46, as: UInt64.self)
        bodyBytes = block.integer(at: 54, as: UInt64.self)
        bodyBytesSent = block.integer(at: 62, as: UInt64.self)
        self.remoteAddress = remoteAddress
    }

    static func read(from reader: inout WireReader) throws(FrameError) -> HopMetrics {
        let block = try reader.block(numbersLength)
        guard block[36] <= 1, block[37] <= 1 else { throw .invalid(.boolean) }
        let address = try reader.text()
        return HopMetrics(block, remoteAddress: address, remotePort: try reader.uint16())
    }

    /// Bytes of everything before the address.
    private static let numbersLength = 70
}
