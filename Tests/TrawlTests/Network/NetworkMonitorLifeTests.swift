import Testing
import Trawl

@Suite("How long a network monitor lives")
struct NetworkMonitorLifeTests {
    /// Knows a monitor without holding it.
    private final class Trace {
        weak var monitor: NetworkMonitor?

        init(_ monitor: NetworkMonitor) { self.monitor = monitor }
    }

    @Test("one that nobody holds lives as long as its last sequence")
    func sequences() async {
        let trace = await follow()
        #expect(trace.monitor == nil)
    }

    @Test("it lives without a sequence, and ends when it is let go of")
    func alone() {
        var monitor: NetworkMonitor? = NetworkMonitor()
        let trace = monitor.map(Trace.init)
        #expect(trace?.monitor != nil)
        monitor = nil
        #expect(trace?.monitor == nil)
    }

    private func follow() async -> Trace {
        let (paths, trace) = begin()
        for await _ in paths { break }
        #expect(trace.monitor != nil)
        withExtendedLifetime(paths) {}
        return trace
    }

    /// As in `for await path in NetworkMonitor().paths`.
    private func begin() -> (AsyncStream<NetworkPath>, Trace) {
        let monitor = NetworkMonitor()
        return (monitor.paths, Trace(monitor))
    }
}
