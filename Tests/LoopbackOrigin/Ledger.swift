import Glibc

/// What happened so far: counters, concurrency, and the last requests.
final class Ledger: Sendable {
    /// One request, as `/log` shows it.
    struct Entry: Sendable {
        var microseconds: UInt64
        var connection: Int
        var request: Int
        var peerPort: UInt16
        var method: String
        var target: String
        var minorVersion: Int
        var host: String

        func append(to json: inout JSONText) {
            json.raw("{\"ms\":\(microseconds / 1000).")
            let fraction = String(microseconds % 1000)
            json.raw(String(repeating: "0", count: 3 - fraction.utf8.count) + fraction)
            json.raw(",\"connection\":\(connection),\"request\":\(request),\"port\":\(peerPort),\"method\":")
            json.string(method)
            json.raw(",\"target\":")
            json.string(target)
            json.raw(",\"version\":\"HTTP/1.\(minorVersion)\",\"host\":")
            json.string(host)
            json.raw("}\n")
        }
    }

    /// A number that goes up and down, with its highest value.
    struct Gauge: Sendable {
        var now = 0
        var peak = 0
        var total = 0

        mutating func up() {
            now += 1
            total += 1
            peak = max(peak, now)
        }

        var json: String { "\"now\":\(now),\"max\":\(peak),\"total\":\(total)" }
    }

    private struct State: Sendable {
        var ring: [Entry] = []
        var next = 0
        var paths: [String: Int] = [:]
        var keys: [String: Int] = [:]
        var requests = Gauge()
        var hosts: [String: Gauge] = [:]
        var connections = Gauge()
        /// The numbers of those that are open.
        var numbers: Set<Int> = []
        /// Open connections on which nothing was sent that nobody asked for, be it their end.
        var quiet: Set<Int> = []
        var addresses: [Gauge]
        /// The open connections of each address, and the most of them that their peers had not closed.
        var open: [Set<Int32>]
        var established: [Int]
    }

    private static let ringSize = 10_000
    private static let maxNames = 20_000

    private let state: Guarded<State>
    private let options: Options
    private let start = Clock.nanoseconds()
    private let logDescriptor: Int32

    init(options: Options) throws(Server.StartFailure) {
        self.options = options
        state = Guarded(
            State(
                addresses: Array(repeating: Gauge(), count: options.addressCount),
                open: Array(repeating: [], count: options.addressCount),
                established: Array(repeating: 0, count: options.addressCount)))
        if let path = options.logPath {
            logDescriptor = Glibc.open(path, O_WRONLY | O_CREAT | O_APPEND, 0o644)
            guard logDescriptor >= 0 else { throw Server.StartFailure(message: "cannot open \(path): errno \(errno)") }
        } else {
            logDescriptor = -1
        }
    }

    /// A connection was accepted. Of the others to its address some may be closed by their peers, which their threads
    /// have not read yet: the system knows.
    func connectionOpened(_ number: Int, address: Int, _ descriptor: Int32) {
        state.withLock { state in
            state.connections.up()
            state.numbers.insert(number)
            state.quiet.insert(number)
            state.addresses[address].up()
            let others = state.open[address]
            let established = others.count > 64 ? others.count : others.count(where: TCPState.isEstablished)
            state.established[address] = max(state.established[address], established + 1)
            state.open[address].insert(descriptor)
        }
    }

    /// The connection is about to be closed.
    func connectionCloses(_ number: Int, address: Int, _ descriptor: Int32) {
        state.withLock { state in
            state.connections.now -= 1
            state.numbers.remove(number)
            state.quiet.remove(number)
            state.addresses[address].now -= 1
            state.open[address].remove(descriptor)
        }
    }

    /// Something was sent on a connection that nobody asked for.
    func disturbed(_ number: Int) {
        state.withLock { _ = $0.quiet.remove(number) }
    }

    func isQuiet(_ number: Int) -> Bool { state.withLock { $0.quiet.contains(number) } }

    /// Notes a request. Those about the ledger itself are logged but do not count as handled at the same time.
    func began(_ request: Request, on connection: Connection, isControl: Bool) {
        let entry = Entry(
            microseconds: (Clock.nanoseconds() - start) / 1000, connection: connection.number,
            request: connection.requests, peerPort: connection.peerPort, method: request.method,
            target: request.target, minorVersion: request.minorVersion, host: request.host)
        state.withLock { state in
            if state.ring.count < Ledger.ringSize {
                state.ring.append(entry)
            } else {
                state.ring[state.next] = entry
                state.next = (state.next + 1) % Ledger.ringSize
            }
            let path = state.paths.count < Ledger.maxNames ? request.path : "(other)"
            state.paths[path, default: 0] += 1
            guard !isControl else { return }
            state.requests.up()
            if state.hosts[request.host] != nil || state.hosts.count < Ledger.maxNames {
                state.hosts[request.host, default: Gauge()].up()
            }
        }
        guard logDescriptor >= 0 else { return }
        var line = JSONText()
        entry.append(to: &line)
        _ = write(logDescriptor, line.bytes, line.bytes.count)
    }

    /// Notes the end of a request that counts as handled.
    func ended(_ request: Request) {
        state.withLock { state in
            state.requests.now -= 1
            state.hosts[request.host]?.now -= 1
        }
    }

    /// The counter's value after counting up.
    func count(_ key: String) -> Int {
        state.withLock { state in
            let name = state.keys[key] != nil || state.keys.count < Ledger.maxNames ? key : "(other)"
            state.keys[name, default: 0] += 1
            return state.keys[name, default: 0]
        }
    }

    /// Forgets counts, peaks and the log; what is open or being handled stays counted.
    func reset() {
        state.withLock { state in
            state.ring = []
            state.next = 0
            state.paths = [:]
            state.keys = [:]
            state.requests = Gauge(now: state.requests.now, peak: state.requests.now, total: 0)
            state.hosts = state.hosts.filter { $0.value.now > 0 }.mapValues { Gauge(now: $0.now, peak: $0.now) }
            state.connections = Gauge(now: state.connections.now, peak: state.connections.now, total: 0)
            state.addresses = state.addresses.map { Gauge(now: $0.now, peak: $0.now, total: 0) }
            state.established = state.addresses.map(\.now)
        }
    }

    var countsJSON: [UInt8] {
        let paths = state.withLock { $0.paths }
        var json = JSONText()
        json.raw("{")
        for (index, path) in paths.keys.sorted().enumerated() {
            json.raw(index == 0 ? "" : ",")
            json.string(path)
            json.raw(":\(paths[path, default: 0])")
        }
        json.raw("}\n")
        return json.bytes
    }

    var concurrencyJSON: [UInt8] {
        let (requests, hosts) = state.withLock { ($0.requests, $0.hosts) }
        var json = JSONText()
        json.raw("{\(requests.json),\"hosts\":{")
        for (index, host) in hosts.keys.sorted().enumerated() {
            json.raw(index == 0 ? "" : ",")
            json.string(host)
            json.raw(":{\(hosts[host, default: Gauge()].json)}")
        }
        json.raw("}}\n")
        return json.bytes
    }

    var connectionsJSON: [UInt8] {
        let (connections, addresses, established) = state.withLock { ($0.connections, $0.addresses, $0.established) }
        let numbers = state.withLock { $0.numbers }.sorted().map { String($0) }.joined(separator: ",")
        var json = JSONText()
        json.raw("{\"open\":\(connections.now),\(connections.json),\"numbers\":[\(numbers)],\"addresses\":{")
        for (index, gauge) in addresses.enumerated() {
            let most = established[index]
            json.raw("\(index == 0 ? "" : ",")\"\(options.address(index))\":{\(gauge.json),\"established\":\(most)}")
        }
        json.raw("}}\n")
        return json.bytes
    }

    /// The last requests, oldest first, whose target begins with the prefix.
    func logLines(targetPrefix: String) -> [UInt8] {
        let (ring, next) = state.withLock { ($0.ring, $0.next) }
        var json = JSONText()
        for entry in ring[next...] + ring[..<next] where entry.target.hasPrefix(targetPrefix) {
            entry.append(to: &json)
        }
        return json.bytes
    }
}
