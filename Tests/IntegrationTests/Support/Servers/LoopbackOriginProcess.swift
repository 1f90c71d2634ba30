import Foundation

/// A running `LoopbackOrigin`.
final class LoopbackOriginProcess: Sendable {
    let port: UInt16
    private let process: ChildProcess

    /// Starts an origin on a free port.
    ///
    /// - Parameter addresses: How many addresses it listens on, from 127.0.0.1 up, all on one port.
    init(addresses: Int = 1, arguments: [String] = []) throws {
        let process = try ChildProcess(
            try BuiltProducts.loopbackOrigin(), ["--port", "0", "--addresses", String(addresses)] + arguments)
        guard let line = process.readLine(), line.hasPrefix("listening "), let colon = line.lastIndex(of: ":"),
            let port = UInt16(line[line.index(after: colon)...])
        else { throw ChildProcess.Failure(description: "the origin does not say where it listens") }
        self.port = port
        self.process = process
    }

    /// Its process.
    var pid: Int32 { process.pid }

    /// The URL of a target on one of its addresses, counted from 1.
    func url(_ target: String, address: Int = 1) -> String { "http://127.0.0.\(address):\(port)\(target)" }

    /// Ends it.
    func stop() { process.end() }

    // MARK: Questions, asked without the library

    /// A request it has seen.
    struct LogEntry: Decodable, Sendable {
        /// When its head had come, in milliseconds since the start.
        let ms: Double
        let connection: Int
        let request: Int
        let method: String
        let target: String
        let version: String
        let host: String?
    }

    struct Connections: Decodable, Sendable {
        let open: Int
        let max: Int
        let total: Int
        /// Those that are open, as `X-Connection` has them.
        let numbers: [Int]
    }

    struct Concurrency: Decodable, Sendable {
        let now: Int
        let max: Int
        let total: Int
    }

    /// The requests whose target begins with `prefix`, oldest first.
    func log(prefix: String) throws -> [LogEntry] {
        let lines = try ask("/log?prefix=" + prefix.percentEncoded)
        return try lines.split(separator: UInt8(ascii: "\n")).map {
            try JSONDecoder().decode(LogEntry.self, from: Data($0))
        }
    }

    /// The connections of all its peers; that of the question is one.
    func connections() throws -> Connections {
        try JSONDecoder().decode(Connections.self, from: Data(try ask("/connections")))
    }

    /// Whether a connection is open and nothing was sent on it that nobody asked for.
    func isQuiet(_ connection: Int) throws -> Bool { try ask("/quiet/\(connection)") == Array("1\n".utf8) }

    /// The most connections to each address that neither end had closed; of those that were accepted.
    func establishedMaxima() throws -> [String: Int] {
        struct Address: Decodable { let established: Int }
        struct Answer: Decodable { let addresses: [String: Address] }
        return try JSONDecoder().decode(Answer.self, from: Data(try ask("/connections"))).addresses.mapValues(
            \.established)
    }

    /// The requests being handled.
    func concurrency() throws -> Concurrency {
        try JSONDecoder().decode(Concurrency.self, from: Data(try ask("/concurrency")))
    }

    /// The most requests that were being handled at once, by the `Host` they named.
    func hostMaxima() throws -> [String: Int] {
        struct Answer: Decodable { let hosts: [String: Concurrency] }
        return try JSONDecoder().decode(Answer.self, from: Data(try ask("/concurrency"))).hosts.mapValues(\.max)
    }

    private func ask(_ target: String) throws -> [UInt8] {
        try PlainClient.get(port: port, target: target)
    }
}

/// Runs `body` with an origin of its own.
func withOrigin<Value>(
    addresses: Int = 1, arguments: [String] = [], _ body: (LoopbackOriginProcess) async throws -> Value
) async throws -> Value {
    let origin = try LoopbackOriginProcess(addresses: addresses, arguments: arguments)
    defer { origin.stop() }
    return try await body(origin)
}

extension String {
    /// The text as one value of a query.
    var percentEncoded: String {
        utf8.map { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"):
                String(UnicodeScalar(byte))
            default:
                String(format: "%%%02X", byte)
            }
        }.joined()
    }
}
