import TrawlHTTP
import TrawlPlatform

/// What a `NetworkMonitor` does: one thread that waits for the kernel's news and tells those who follow.
final class NetworkWatch: Sendable {
    private struct State {
        var path = NetworkPath.unknown
        var observers: [UInt64: Observer] = [:]
        var lastNumber: UInt64 = 0
        var isStopped = false
        /// Whether somebody wants another look.
        var isAsked = false
        /// Whether there is a thread that tells.
        var isWatched = false
    }

    private struct Observer {
        /// What it was told last.
        var told: NetworkPath?
        let tell: @Sendable (NetworkPath) -> Void
    }

    private enum Token {
        static let wakeUp: UInt64 = 0
        static let changes: UInt64 = 1
    }

    /// The least time between two looks: many changes come together, and a busy router has them all the time.
    private static let distance = Duration.milliseconds(50)

    private let settings: NetworkMonitor.Settings
    private let state = Guarded(State())
    private let wakeUp: WakeUp?

    /// Begins to watch. Without a probe the way is known when this returns.
    init(_ settings: NetworkMonitor.Settings) {
        self.settings = settings
        wakeUp = try? WakeUp()
        guard let wakeUp, let poller = try? Poller(), let table = try? RouteTable(), let ways = try? table.ways(),
            (try? poller.add(wakeUp.rawValue, token: Token.wakeUp, interest: .read)) != nil,
            (try? poller.add(table.rawValue, token: Token.changes, interest: .read)) != nil
        else { return }
        let path = path(ways)
        if settings.probe == nil || path.status == .none {
            state.withLock { $0.path = path }
        } else {
            state.withLock { $0.isAsked = true }
            wakeUp.signal()
        }
        let hand = Handover(table)
        state.withLock { $0.isWatched = true }
        do throws(SystemError) {
            // The thread keeps the watch until it is stopped.
            _ = try NamedThread.start(name: "trawl-network") { self.run(hand.table, poller, wakeUp) }
        } catch {
            state.withLock { $0 = State() }
        }
    }

    /// What is known now.
    var path: NetworkPath { state.withLock { $0.path } }

    /// Tells the path there is, and each new one, in their order.
    ///
    /// - Parameter tell: Called on the watch's thread.
    /// - Returns: What the observer is forgotten by.
    func observe(_ tell: @escaping @Sendable (NetworkPath) -> Void) -> UInt64 {
        let (number, isWatched) = state.withLock { state in
            guard !state.isStopped else { return (UInt64(0), false) }
            state.lastNumber += 1
            state.observers[state.lastNumber] = Observer(tell: tell)
            return (state.lastNumber, state.isWatched)
        }
        if isWatched {
            wakeUp?.signal()
        } else if number != 0 {
            tell(.unknown)
        }
        return number
    }

    func forget(_ number: UInt64) {
        let observer = state.withLock { $0.observers.removeValue(forKey: number) }
        withExtendedLifetime(observer) {}
    }

    func check() {
        state.withLock { $0.isAsked = true }
        wakeUp?.signal()
    }

    /// Tells nobody anything any more.
    func stop() {
        let observers = state.withLock { state in
            state.isStopped = true
            defer { state.observers = [:] }
            return state.observers
        }
        // What observers hold is let go of outside of the lock.
        withExtendedLifetime(observers) {}
        wakeUp?.signal()
    }

    // MARK: - The thread

    private func run(_ table: RouteTable, _ poller: Poller, _ wakeUp: WakeUp) {
        var isDue = false
        var lookedAt = MonotonicClock.now()
        var probed: RouteTable.Ways?
        while true {
            let next = isDue ? lookedAt.advanced(by: Self.distance) : nil
            var tokens: Set<UInt64> = []
            // Only a mistake of ours makes epoll fail.
            guard (try? poller.wait(until: next, at: MonotonicClock.now()) { tokens.insert($0.token) }) != nil else {
                return
            }
            let hasChanges = tokens.contains(Token.changes)
            wakeUp.drain()
            tell()
            let (isStopped, isAsked) = state.withLock { state in
                defer { state.isAsked = false }
                return (state.isStopped, state.isAsked)
            }
            if isStopped { return }
            if hasChanges { table.drain() }
            if isAsked { probed = nil }
            isDue = isDue || hasChanges || isAsked
            guard isDue, lookedAt.duration(to: MonotonicClock.now()) >= Self.distance || isAsked else { continue }
            isDue = false
            lookedAt = MonotonicClock.now()
            guard let ways = try? table.ways() else { continue }
            var found = path(ways)
            if let probe = settings.probe, found.status != .none {
                // The same way again: nothing is tried anew.
                if ways == probed { continue }
                if !ConnectionProbe.reaches(probe.host, port: probe.port, within: probe.timeout) {
                    found = found.leadingNowhere
                }
                probed = ways
            } else {
                probed = nil
            }
            note(found)
        }
    }

    private func note(_ path: NetworkPath) {
        state.withLock { $0.path = path }
        tell()
    }

    /// Tells those who do not know it yet. Only by the thread, so that an older path never comes after a newer one.
    private func tell() {
        let (path, observers) = state.withLock { state in
            let ignorant = state.observers.filter { $0.value.told != state.path }
            for number in ignorant.keys { state.observers[number]?.told = state.path }
            return (state.path, ignorant.values.map(\.tell))
        }
        for observer in observers { observer(path) }
    }

    private func path(_ ways: RouteTable.Ways) -> NetworkPath {
        NetworkPath(
            ipv4Interface: ways.ipv4?.interface, ipv6Interface: ways.ipv6?.interface,
            meteredInterfaces: settings.meteredInterfaces)
    }

    /// `@unchecked Sendable`: made by one thread, and from then on the watch's alone.
    private final class Handover: @unchecked Sendable {
        let table: RouteTable
        init(_ table: RouteTable) { self.table = table }
    }
}
