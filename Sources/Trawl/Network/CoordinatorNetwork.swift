import TrawlPlatform

/// A coordinator's view of the network. Nothing is watched before somebody asks.
final class CoordinatorNetwork: Sendable {
    private let settings: NetworkMonitor.Settings
    private let state = Guarded<NetworkWatch?>(nil)

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

    /// Ends it.
    func stop() {
        state.withLock { $0 }?.stop()
    }
}
