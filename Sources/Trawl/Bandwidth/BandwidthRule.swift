import TrawlPlatform
import TrawlProtocol

/// The limit of all fetches together: what the program says, or what holds on metered networks, while there is one.
final class BandwidthRule: Sendable {
    private struct State {
        var limit: BandwidthLimit
        var isMetered = false
    }

    /// What holds on metered networks; nil is what holds elsewhere.
    let meteredLimit: BandwidthLimit?
    private let segment: SharedSegment
    private let state: Guarded<State>

    init(_ configuration: Configuration, _ segment: SharedSegment) {
        meteredLimit = configuration.meteredBandwidth
        self.segment = segment
        state = Guarded(State(limit: configuration.bandwidth))
        segment.limit(LimitNumbers.all).set(configuration.bandwidth)
    }

    /// The limit the program set.
    var limit: BandwidthLimit {
        get { state.withLock { $0.limit } }
        set { change { $0.limit = newValue } }
    }

    /// The network is of this kind from now on. What is not known counts as not metered.
    func note(_ status: NetworkPath.Status) {
        change { state in
            // Without a network nothing passes; when there is one again, it is known what kind it is.
            if status != .none { state.isMetered = status == .metered }
        }
    }

    private func change(_ body: (inout State) -> Void) {
        state.withLock { state in
            let before = effective(state)
            body(&state)
            let limit = effective(state)
            if limit != before { segment.limit(LimitNumbers.all).set(limit) }
        }
    }

    private func effective(_ state: State) -> BandwidthLimit {
        state.isMetered ? meteredLimit ?? state.limit : state.limit
    }
}
