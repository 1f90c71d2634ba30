package import TrawlProtocol

/// What one hop of a fetch took.
///
/// Durations count from the start of the hop's transfer; a phase that did not happen is nil.
public struct HopReport: Sendable, Hashable {
    /// The URL of the hop, without user information.
    public let url: String
    /// Its status.
    public let status: Int
    /// As in `HTTP/1.1`.
    public let version: String
    /// Until the host's name was resolved.
    public var nameResolved: Duration? { phase(metrics.nameResolved) }
    /// Until the TCP connection stood.
    public var connected: Duration? { phase(metrics.connected) }
    /// Until TLS stood.
    public var secured: Duration? { phase(metrics.secured) }
    /// Until the request was about to be sent.
    public var requestSent: Duration? { phase(metrics.requestSent) }
    /// Until the first byte of the response.
    public var firstByte: Duration? { phase(metrics.firstByte) }
    /// Until the hop was complete.
    public var ended: Duration { .microseconds(Int64(clamping: metrics.ended)) }
    /// The connection, as worker slot and number within that worker; nil when none was made.
    public var connection: String? { metrics.connection == 0 ? nil : "\(slot):\(metrics.connection)" }
    /// Whether an earlier hop had used the connection.
    public var reusedConnection: Bool { metrics.reusedConnection }
    /// Whether the request went out more than once: a connection that had been used before ended under it without a byte of
    /// response (RFC 9112 §9.3.1), which is no failure of methods that may be repeated.
    public var repeatedRequest: Bool { metrics.repeatedRequest }
    /// Bytes as they came from the wire: heads, framing and encoded body.
    public var bytesReceived: UInt64 { metrics.bytesReceived }
    /// Bytes of the body without its framing, content codings still on.
    package var bodyBytes: UInt64 { metrics.bodyBytes }
    /// Bytes of the request.
    public var bytesSent: UInt64 { metrics.bytesSent }
    /// Bytes of the request's body among ``bytesSent``.
    package var bodyBytesSent: UInt64 { metrics.bodyBytesSent }
    /// The peer's address and port; nil when there was no connection.
    public var remoteAddress: String? {
        if metrics.remoteAddress.isEmpty { return nil }
        if metrics.remoteAddress.utf8.contains(0x3A) { return "[\(metrics.remoteAddress)]:\(metrics.remotePort)" }
        return "\(metrics.remoteAddress):\(metrics.remotePort)"
    }

    /// The number of the exchange it belongs to (``RequestOptions/TimeLimits/exchange``), 1 for the first: each attempt
    /// is one, and what follows a wait for the network.
    package var exchange: Int { Int(exchangeNumber) }

    /// As the worker measured; made into what is asked for when it is asked for.
    private let metrics: HopMetrics
    // Half a word each: every running fetch has room for a report.
    private let slot: Int32
    private let exchangeNumber: Int32

    /// The report of what a worker measured.
    package init(url: String, status: Int, version: String, slot: Int, exchange: Int = 1, metrics: HopMetrics) {
        self.url = url
        self.status = status
        self.version = version
        self.slot = Int32(clamping: slot)
        exchangeNumber = Int32(clamping: exchange)
        self.metrics = metrics
    }

    private func phase(_ microseconds: some FixedWidthInteger) -> Duration? {
        microseconds == 0 ? nil : .microseconds(Int64(clamping: microseconds))
    }
}
