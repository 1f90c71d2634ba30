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
    public let nameResolved: Duration?
    /// Until the TCP connection stood.
    public let connected: Duration?
    /// Until TLS stood.
    public let secured: Duration?
    /// Until the request was about to be sent.
    public let requestSent: Duration?
    /// Until the first byte of the response.
    public let firstByte: Duration?
    /// Until the hop was complete.
    public let ended: Duration
    /// The connection, as worker slot and number within that worker; nil when none was made.
    public let connection: String?
    /// Whether an earlier hop had used the connection.
    public let reusedConnection: Bool
    /// Bytes as they came from the wire: heads, framing and encoded body.
    public let bytesReceived: UInt64
    /// Bytes of the request.
    public let bytesSent: UInt64
    /// The peer's address and port; nil when there was no connection.
    public let remoteAddress: String?

    /// The report of what a worker measured.
    package init(url: String, status: Int, version: String, slot: Int, metrics: HopMetrics) {
        func phase(_ microseconds: UInt32) -> Duration? {
            microseconds == 0 ? nil : .microseconds(Int64(microseconds))
        }
        self.url = url
        self.status = status
        self.version = version
        nameResolved = phase(metrics.nameResolved)
        connected = phase(metrics.connected)
        secured = phase(metrics.secured)
        requestSent = phase(metrics.requestSent)
        firstByte = phase(metrics.firstByte)
        ended = .microseconds(Int64(metrics.ended))
        connection = metrics.connection == 0 ? nil : "\(slot):\(metrics.connection)"
        reusedConnection = metrics.reusedConnection
        bytesReceived = metrics.bytesReceived
        bytesSent = metrics.bytesSent
        if metrics.remoteAddress.isEmpty {
            remoteAddress = nil
        } else if metrics.remoteAddress.utf8.contains(0x3A) {
            remoteAddress = "[\(metrics.remoteAddress)]:\(metrics.remotePort)"
        } else {
            remoteAddress = "\(metrics.remoteAddress):\(metrics.remotePort)"
        }
    }
}
