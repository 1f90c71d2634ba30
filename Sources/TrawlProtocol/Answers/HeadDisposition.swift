package import TrawlHTTP

/// What the coordinator answers to a head that a transfer rests at.
package enum HeadDisposition: Sendable, Hashable {
    /// As the lease said.
    case proceed
    /// As the lease said, and the response is stored like this, or not.
    case keep(StoringOrder?)
    /// The body that the lease drops, since it is a redirect's, goes where others go.
    case deliver
    /// The body goes there instead. A descriptor sink brings its descriptor with the frame.
    case redirectBody(BodySink)
    /// The hop ends here; the body is not wanted and the connection is closed.
    case cancel

    init(from reader: inout WireReader) throws(FrameError) {
        switch try reader.byte() {
        case 0: self = .proceed
        case 1: self = .redirectBody(try BodySink(from: &reader))
        case 2: self = .cancel
        case 3: self = .keep(nil)
        case 4: self = .keep(StoringOrder(session: nil, metadata: try reader.data()))
        case 5:
            let session = SessionID(try reader.uint64(), try reader.uint64())
            self = .keep(StoringOrder(session: session, metadata: try reader.data()))
        case 6: self = .deliver
        default: throw .invalid(.disposition)
        }
    }

    func write(to writer: inout WireWriter) {
        switch self {
        case .proceed: writer.write(UInt8(0))
        case .redirectBody(let sink):
            writer.write(UInt8(1))
            sink.write(to: &writer)
        case .cancel: writer.write(UInt8(2))
        case .deliver: writer.write(UInt8(6))
        case .keep(let order):
            writer.write(UInt8(order == nil ? 3 : order?.session == nil ? 4 : 5))
            if let session = order?.session {
                writer.write(session.first)
                writer.write(session.last)
            }
            if let order { writer.write(order.metadata) }
        }
    }
}

/// How a response is stored.
package struct StoringOrder: Sendable, Hashable {
    /// The session whose end takes it; nil stores permanently.
    package var session: SessionID?
    /// Bytes of the program's own that go with it.
    package var metadata: [UInt8]

    /// An order of its parts.
    package init(session: SessionID?, metadata: [UInt8]) {
        self.session = session
        self.metadata = metadata
    }
}
