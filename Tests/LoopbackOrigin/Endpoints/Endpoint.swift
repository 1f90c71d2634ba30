/// What answers a path, chosen by its first segment.
struct Endpoint: Sendable {
    typealias Handler = @Sendable (Exchange, RequestBody) throws(ConnectionEnd) -> After

    var handler: Handler
    /// Asks about the origin itself and does not count in `/concurrency`.
    var isControl = false
    /// The request's body is read before the handler runs.
    var readsBody = true
    /// How many bytes of it the handler gets.
    var keeps = 65_536

    static func named(_ name: String) -> Endpoint { table[name] ?? unknown }

    private static let unknown = Endpoint { (exchange, _) throws(ConnectionEnd) in
        try exchange.reply(status: 404, text: "no such endpoint\n")
    }

    private static let table = [
        ordinary, redirects, faults, malformed, reuse, codings, poison, control, SampleSite.endpoints,
    ].reduce(into: [String: Endpoint]()) { $0.merge($1) { $1 } }
}
