/// What one hop took, as the worker measured it.
///
/// Times are microseconds since the transfer began, 0 for a phase that did not happen.
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
    package var firstByte: UInt32 = 0
    /// The hop was over.
    package var ended: UInt32 = 0
    /// The worker's number for the connection; 0 when none was made.
    package var connection: UInt32 = 0
    /// Whether an earlier hop had used the connection.
    package var reusedConnection = false
    /// Bytes of heads and body as they came from the wire, framing included.
    package var bytesReceived: UInt64 = 0
    /// Bytes of head and body of the request.
    package var bytesSent: UInt64 = 0
    /// The peer's address, without its port; empty when there was no connection.
    package var remoteAddress = ""
    /// The peer's port; 0 when there was no connection.
    package var remotePort: UInt16 = 0

    /// Nothing measured.
    package init() {}

    func write(to writer: inout WireWriter) {
        writer.write(nameResolved)
        writer.write(connected)
        writer.write(secured)
        writer.write(requestSent)
        writer.write(firstByte)
        writer.write(ended)
        writer.write(connection)
        writer.write(reusedConnection)
        writer.write(bytesReceived)
        writer.write(bytesSent)
        writer.write(remoteAddress)
        writer.write(remotePort)
    }

    init(from reader: inout WireReader) throws(FrameError) {
        nameResolved = try reader.uint32()
        connected = try reader.uint32()
        secured = try reader.uint32()
        requestSent = try reader.uint32()
        firstByte = try reader.uint32()
        ended = try reader.uint32()
        connection = try reader.uint32()
        reusedConnection = try reader.bool()
        bytesReceived = try reader.uint64()
        bytesSent = try reader.uint64()
        remoteAddress = try reader.text()
        remotePort = try reader.uint16()
    }
}
