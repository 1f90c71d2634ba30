import Glibc
import TrawlHTTP
import TrawlPlatform
import TrawlWatch

/// What the watcher's thread does: takes connections, answers each with one report, and writes metrics when it is time.
///
/// Bound to that thread.
struct WatchRound {
    static let stopToken: UInt64 = 0
    static let listenerToken: UInt64 = 1
    private static let firstClient: UInt64 = 2
    /// How long no connection is taken when there is no descriptor for it.
    private static let rest = Duration.milliseconds(500)

    /// A connection that has not taken all of its report.
    private final class Client {
        let socket: Descriptor
        let deadline: MonotonicInstant
        let bytes: [UInt8]
        var sent = 0

        init(_ socket: consuming Descriptor, _ bytes: [UInt8], deadline: MonotonicInstant) {
            self.socket = socket
            self.bytes = bytes
            self.deadline = deadline
        }

        /// Writes what the socket takes.
        ///
        /// - Returns: Whether there is nothing more to be done for it.
        func write() -> Bool {
            while sent < bytes.count {
                let result = bytes.withUnsafeBytes { bytes -> Result<Int?, SystemError> in
                    do throws(SystemError) {
                        let rest = UnsafeRawBufferPointer(rebasing: bytes.dropFirst(sent))
                        return .success(try ControlSocket.send(socket.rawValue, rest))
                    } catch {
                        return .failure(error)
                    }
                }
                guard case .success(let count) = result else { return true }
                guard let count else { return false }
                sent += count
            }
            return true
        }
    }

    private let poller: Poller
    private let listener: StatusListener?
    private var clients: [UInt64: Client] = [:]
    private var lastClient = firstClient
    private var nextWrite: MonotonicInstant?
    /// Whether connections are looked for, and when they are again.
    private var isTaking = true
    private var restsUntil: MonotonicInstant?
    private var report: [UInt8] = []
    private var reportedAt: MonotonicInstant?
    private var isOver = false

    init(_ poller: Poller, _ listener: StatusListener?, nextWrite: MonotonicInstant?) {
        self.poller = poller
        self.listener = listener
        self.nextWrite = nextWrite
    }

    mutating func run(_ watcher: Watcher) {
        while !isOver {
            var events: [Poller.Event] = []
            var now = MonotonicClock.now()
            // Only a mistake of ours makes it fail; then nobody is told anything.
            guard (try? poller.wait(until: wakeUp, at: now) { events.append($0) }) != nil else { return }
            for event in events { handle(event, watcher) }
            now = MonotonicClock.now()
            for (token, client) in clients where client.deadline <= now { drop(token) }
            if let restsUntil, restsUntil <= now { self.restsUntil = nil }
            if let time = nextWrite, time <= now {
                watcher.write(watcher.ask())
                nextWrite = watcher.nextWrite(after: MonotonicClock.now())
            }
            lookForConnections(restsUntil == nil && clients.count < Watcher.mostClients)
        }
    }

    private var wakeUp: MonotonicInstant? {
        var wake = nextWrite
        for time in clients.values.map(\.deadline) + [restsUntil].compactMap({ $0 }) {
            wake = min(wake ?? time, time)
        }
        return wake
    }

    private mutating func handle(_ event: Poller.Event, _ watcher: Watcher) {
        switch event.token {
        case Self.stopToken: isOver = true
        case Self.listenerToken: takeConnections(watcher)
        default: if let client = clients[event.token], client.write() { drop(event.token) }
        }
    }

    private mutating func takeConnections(_ watcher: Watcher) {
        while let listener, clients.count < Watcher.mostClients {
            do throws(SystemError) {
                guard let socket = try LocalSocket.accept(listener.socket.rawValue) else { return }
                // Who may open the file may ask; this is for a file system that has no modes.
                let user = try LocalSocket.peer(of: socket.rawValue).user
                guard user == geteuid() || user == 0 else { continue }
                serve(socket, watcher)
            } catch {
                // Too many descriptors are open, most likely.
                restsUntil = MonotonicClock.now().advanced(by: Self.rest)
                return
            }
        }
    }

    private mutating func serve(_ socket: consuming Descriptor, _ watcher: Watcher) {
        refresh(watcher)
        // An engine that has no answer has none for whoever asks: the stream ends without a line.
        guard !report.isEmpty else { return }
        let client = Client(socket, report, deadline: MonotonicClock.now().advanced(by: Watcher.patience))
        if client.write() { return }
        lastClient += 1
        if (try? poller.add(client.socket.rawValue, token: lastClient, interest: .write)) != nil {
            clients[lastClient] = client
        }
    }

    private mutating func refresh(_ watcher: Watcher) {
        let now = MonotonicClock.now()
        if let reportedAt, reportedAt.duration(to: now) < Watcher.freshness { return }
        report = watcher.ask()?.report.json ?? []
        reportedAt = MonotonicClock.now()
    }

    private mutating func drop(_ token: UInt64) {
        guard let client = clients.removeValue(forKey: token) else { return }
        try? poller.remove(client.socket.rawValue)
    }

    /// A listener that is not to be looked at must not be in the poller, which would report it again and again.
    private mutating func lookForConnections(_ looks: Bool) {
        guard let listener, looks != isTaking else { return }
        isTaking = looks
        try? poller.modify(listener.socket.rawValue, token: Self.listenerToken, interest: looks ? .read : [])
    }
}
