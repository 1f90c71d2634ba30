import TrawlFrontier
import TrawlHTTP
import TrawlPlatform

/// What a `NetworkMonitor` does: one thread that waits for the kernel's news and tells those who follow.
///
/// Where it cannot be started, for want of descriptors say, nothing is known, and each who asks tries once more; an
/// engine, which asks for each fetch that fails, after some time only.
final class NetworkWatch: Sendable {
    private struct State {
        var path = NetworkPath.unknown
        var observers: [UInt64: Observer] = [:]
        var lastNumber: UInt64 = 0
        var isStopped = false
        /// Whether somebody wants another look.
        var isAsked = false
        /// Whether somebody is starting the thread that tells.
        var isBeginning = false
        /// Wakes that thread; nil as long as there is none.
        var wakeUp: WakeUp?
        /// When the thread could not be started last.
        var failedAt: MonotonicInstant?
    }

    private struct Observer {
        /// What it was told last.
        var told: NetworkPath?
        let tell: @Sendable (NetworkPath) -> Void
    }

    /// What the thread asks, and waits at.
    ///
    /// `@unchecked Sendable`: made by one thread, and from then on the watch's alone.
    private final class Means: @unchecked Sendable {
        let wakeUp: WakeUp
        let poller: Poller
        let table: RouteTable

        init() throws(SystemError) {
            wakeUp = try WakeUp()
            poller = try Poller()
            table = try RouteTable()
            try poller.add(wakeUp.rawValue, token: Token.wakeUp, interest: .read)
            try poller.add(table.rawValue, token: Token.changes, interest: .read)
        }
    }

    private enum Token {
        static let wakeUp: UInt64 = 0
        static let changes: UInt64 = 1
    }

    /// The least time between two looks: many changes come together, and a busy router has them all the time.
    private static let distance = Duration.milliseconds(50)
    /// How long after a look or a probe that failed the next one is.
    private static let pause = Backoff(first: .seconds(1), longest: .seconds(60), jitter: .none)

    /// How long after a start that failed an engine's question tries the next one.
    private static let restart = Duration.seconds(1)

    private let settings: NetworkMonitor.Settings
    private let state = Guarded(State())

    /// Begins to watch. Without a probe the way is known when this returns.
    init(_ settings: NetworkMonitor.Settings) {
        self.settings = settings
        begin()
    }

    /// Begins to watch, unless somebody does, or has.
    ///
    /// - Parameter pause: For how long that is not tried after it failed.
    private func begin(after pause: Duration = .zero) {
        let isWanted = state.withLock { state in
            guard state.wakeUp == nil, !state.isBeginning, !state.isStopped else { return false }
            if let failedAt = state.failedAt, failedAt.duration(to: MonotonicClock.now()) < pause { return false }
            state.isBeginning = true
            return true
        }
        guard isWanted else { return }
        defer { state.withLock { $0.isBeginning = false } }
        guard let means = try? Means() else {
            return state.withLock { $0.failedAt = MonotonicClock.now() }
        }
        let path = (try? means.table.ways()).map { self.path($0) }
        state.withLock { state in
            if let path, settings.probe == nil || path.status == .none {
                state.path = path
            } else {
                state.isAsked = true
            }
        }
        do throws(SystemError) {
            // The thread keeps the watch until it is stopped.
            _ = try NamedThread.start(name: "trawl-network") { self.run(means) }
        } catch {
            return state.withLock { state in
                (state.path, state.isAsked) = (.unknown, false)
                state.failedAt = MonotonicClock.now()
            }
        }
        state.withLock { $0.wakeUp = means.wakeUp }
        // Who follows already is to be told, and it may have been stopped meanwhile.
        means.wakeUp.signal()
    }

    /// What is known now.
    var path: NetworkPath {
        begin()
        return state.withLock { $0.path }
    }

    /// The same for an engine, on whose thread system calls in vain cost others their time.
    var recentPath: NetworkPath {
        begin(after: Self.restart)
        return state.withLock { $0.path }
    }

    /// Tells the path there is, and each new one, in their order.
    ///
    /// - Parameter tell: Called on the watch's thread, and on this one when there is none.
    /// - Returns: What the observer is forgotten by.
    func observe(_ tell: @escaping @Sendable (NetworkPath) -> Void) -> UInt64 {
        begin()
        let (isStopped, isWatched) = state.withLock { ($0.isStopped, $0.wakeUp != nil) }
        if isStopped { return 0 }
        // Before the thread may know of it.
        if !isWatched { tell(.unknown) }
        let (number, wakeUp) = state.withLock { state in
            guard !state.isStopped else { return (UInt64(0), WakeUp?.none) }
            state.lastNumber += 1
            state.observers[state.lastNumber] = Observer(told: isWatched ? nil : .unknown, tell: tell)
            return (state.lastNumber, state.wakeUp)
        }
        wakeUp?.signal()
        return number
    }

    func forget(_ number: UInt64) {
        let observer = state.withLock { $0.observers.removeValue(forKey: number) }
        withExtendedLifetime(observer) {}
    }

    func check() {
        begin()
        let wakeUp = state.withLock { state in
            state.isAsked = true
            return state.wakeUp
        }
        wakeUp?.signal()
    }

    /// Tells nobody anything any more.
    func stop() {
        let (observers, wakeUp) = state.withLock { state in
            state.isStopped = true
            defer { state.observers = [:] }
            return (state.observers, state.wakeUp)
        }
        // What observers hold is let go of outside of the lock.
        withExtendedLifetime(observers) {}
        wakeUp?.signal()
    }

    // MARK: - The thread

    private func run(_ means: Means) {
        var isDue = false
        var lookedAt = MonotonicClock.now()
        var probed: RouteTable.Ways?
        // When what failed is tried again, and how often in a row it did.
        var again: MonotonicInstant?
        var failures = 0
        while true {
            let next = isDue ? lookedAt.advanced(by: Self.distance) : again
            var tokens: Set<UInt64> = []
            // Only a mistake of ours makes epoll fail.
            guard (try? means.poller.wait(until: next, at: MonotonicClock.now()) { tokens.insert($0.token) }) != nil
            else { return }
            let hasChanges = tokens.contains(Token.changes)
            means.wakeUp.drain()
            tell()
            let (isStopped, isAsked) = state.withLock { state in
                defer { state.isAsked = false }
                return (state.isStopped, state.isAsked)
            }
            if isStopped { return }
            if hasChanges { means.table.drain() }
            let now = MonotonicClock.now()
            let isAgain = again.map { $0 <= now } ?? false
            isDue = isDue || hasChanges || isAsked || isAgain
            guard isDue, lookedAt.duration(to: now) >= Self.distance || isAsked else { continue }
            isDue = false
            lookedAt = now
            guard let ways = try? means.table.ways() else {
                failures += 1
                again = MonotonicClock.now().advanced(by: Self.pause.delay(afterFailures: failures, random: 1))
                continue
            }
            var found = path(ways)
            guard let probe = settings.probe, found.status != .none else {
                (probed, again, failures) = (nil, nil, 0)
                note(found)
                continue
            }
            let isNew = ways != probed
            // The same way again: nothing is tried anew before its time.
            guard isNew || isAsked || isAgain else { continue }
            if isNew { failures = 0 }
            probed = ways
            if ConnectionProbe.reaches(probe.host, port: probe.port, within: probe.timeout) {
                (again, failures) = (nil, 0)
            } else {
                // Nowhere, or there was nothing to try it with: either may pass without any news from the kernel.
                found = found.leadingNowhere
                failures += 1
                again = MonotonicClock.now().advanced(by: Self.pause.delay(afterFailures: failures, random: 1))
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
}
