import TrawlPlatform
import TrawlWatch

/// A file in which a coordinator's metrics stand, in the text format of Prometheus.
///
/// It is replaced as a whole, so who reads it sees one moment: at the start, from time to time, and at the shutdown.
/// `docs/watching.md` lists the metrics.
public struct MetricsFile: Sendable, Hashable {
    /// Its path. What is there is replaced; the name plus the process's number and `.part` is used meanwhile.
    public var path: String
    /// How long it stands before it is written again, a tenth of a second at least. Default 15 s.
    public var interval: Duration

    /// A file.
    public init(_ path: String, every interval: Duration = .seconds(15)) {
        self.path = path
        self.interval = interval
    }

    /// What is wrong with it, or nil.
    var problem: String? {
        if path.isEmpty || path.utf8.contains(0) { return "the metrics file has no usable path" }
        if interval < .milliseconds(100) { return "metrics are written every 0.1 s at most" }
        return nil
    }

    /// Writes it. Other users may read it, as what collects metrics is often one.
    func write(_ snapshot: EngineSnapshot) throws(SystemError) {
        try WholeFile.write(Array(PrometheusText.of(snapshot).utf8), to: path, mode: 0o644)
    }
}
