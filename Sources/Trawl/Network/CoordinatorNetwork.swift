import TrawlPlatform

/// A coordinator's view of the network. Nothing is watched before somebody asks.
final class CoordinatorNetwork: Sendable {
    /// What is said of waiting as a whole, however many fetches wait.
    private struct Telling {
        /// Whether fetches have waited, and the network has not come back since.
        var isMissed = false
        var handler: (@Sendable (Bool) -> Void)?
    }

    private let settings: NetworkMonitor.Settings
    private let state = Guarded<NetworkWatch?>(nil)
    private let telling = Guarded(Telling())

    init(_ settings: NetworkMonitor.Settings) {
        self.settings = settings
    }

    /// The watch, started by the first who asks.
    var watch: NetworkWatch {
        // Made outside of the lock: it makes system calls.
        if let watch = state.withLock({ $0 }) { return watch }
        let made = NetworkWatch(settings)
        let watch = state.withLock { state in
            if let other = state { return other }
            state = made
            return made
        }
        if watch !== made { made.stop() }
        return watch
    }

    /// Whether fetches have waited, and the network has not come back since.
    var isMissed: Bool { telling.withLock { $0.isMissed } }

    /// Who is told when fetches begin to wait (`true`) and when the network is back (`false`).
    func tell(_ handler: @escaping @Sendable (Bool) -> Void) {
        telling.withLock { $0.handler = handler }
    }

    /// A fetch begins to wait, or the network is back.
    func note(isMissed: Bool) {
        let handler = telling.withLock { telling in
            guard telling.isMissed != isMissed else { return nil as (@Sendable (Bool) -> Void)? }
            telling.isMissed = isMissed
            return telling.handler
        }
        handler?(isMissed)
    }

    /// Ends it.
    func stop() {
        state.withLock { $0 }?.stop()
    }
}
