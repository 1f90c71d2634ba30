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
}

/// How a response is stored.
package struct StoringOrder: Sendable, Hashable {
    /// The session whose end takes it; nil stores permanently.
    package var session: SessionNumber?
    /// Bytes of the program's own that go with it.
    package var metadata: [UInt8]

    /// An order of its parts.
    package init(session: SessionNumber?, metadata: [UInt8]) {
        self.session = session
        self.metadata = metadata
    }
}
