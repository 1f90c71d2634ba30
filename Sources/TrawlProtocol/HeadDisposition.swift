/// What the coordinator answers to a head that a transfer rests at.
package enum HeadDisposition: Sendable, Hashable {
    /// As the lease said.
    case proceed
    /// The body goes there instead. A descriptor sink brings its descriptor with the frame.
    case redirectBody(BodySink)
    /// The hop ends here; the body is not wanted and the connection is closed.
    case cancel
}
