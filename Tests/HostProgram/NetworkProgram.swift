import Glibc
import Trawl

/// Prints each path of a network, one a line: status and interfaces. Ends with its standard input.
///
/// Arguments: nothing, or a host and a port to probe.
enum NetworkProgram {
    static func run(_ arguments: ArraySlice<String>) async {
        var settings = NetworkMonitor.Settings()
        if let host = arguments.first, let port = arguments.dropFirst().first.flatMap({ UInt16($0) }) {
            settings.probe = NetworkMonitor.Probe(host: host, port: port)
        }
        let (paths, check) = begin(settings)
        let input = Task.detached { while readLine() != nil { check() } }
        let output = Task {
            for await path in paths {
                let words = [path.status.rawValue, path.ipv4Interface ?? "-", path.ipv6Interface ?? "-"]
                let line = Array((words.joined(separator: " ") + "\n").utf8)
                _ = write(STDOUT_FILENO, line, line.count)
            }
        }
        await input.value
        output.cancel()
    }

    /// What a monitor sees, and its check. The sequence alone holds the monitor.
    private static func begin(
        _ settings: NetworkMonitor.Settings
    ) -> (paths: AsyncStream<NetworkPath>, check: @Sendable () -> Void) {
        let monitor = NetworkMonitor(settings)
        return (monitor.paths, { [weak monitor] in monitor?.check() })
    }
}
