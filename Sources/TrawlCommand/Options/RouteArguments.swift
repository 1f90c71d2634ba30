import ArgumentParser
import Trawl
import TrawlHTTP

/// Where connections lead, whatever the URL says.
struct RouteArguments: ParsableArguments {
    @Option(
        name: .customLong("resolve"), parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            "Use this address for a host and port; of several, joined by commas, the first. Repeatable.",
            valueName: "host:port:address"))
    var resolve: [String] = []

    @Option(
        name: .customLong("connect-to"), parsing: .unconditionalSingleValue,
        help: ArgumentHelp("Connect to another host and port. Repeatable.", valueName: "host:port:host:port"))
    var connectTo: [String] = []

    func validate() throws {
        for entry in resolve where !ConnectRoutes.isResolve(entry) {
            throw ValidationError("--resolve wants host:port:address, not '\(entry)'")
        }
        for entry in connectTo where !ConnectRoutes.isConnectTo(entry) {
            throw ValidationError("--connect-to wants host:port:host:port, not '\(entry)'")
        }
    }

    /// Fills in what these options say.
    func apply(to transport: inout RequestOptions.Transport) {
        transport.resolve = resolve
        transport.connectTo = connectTo
    }
}
