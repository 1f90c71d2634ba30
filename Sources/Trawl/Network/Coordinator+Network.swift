/// What is told of waiting for the network as a whole (``RequestOptions/waitsForConnectivity``).
extension Coordinator {
    /// Tells when fetches begin to wait for the network (`true`), and when it is back (`false`): once each, however
    /// many wait.
    ///
    /// - Parameter handler: Called on the coordinator's own thread, so it must not wait for anything. It takes the
    ///   place of the one before.
    package func onNetworkWait(_ handler: @escaping @Sendable (Bool) -> Void) {
        network.tell(handler)
    }

    /// Whether fetches wait for the network, or have waited, and it has not come back.
    package var isMissingNetwork: Bool { network.isMissed }
}
