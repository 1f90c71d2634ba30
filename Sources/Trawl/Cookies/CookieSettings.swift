import TrawlHTTP
import TrawlSession
import TrawlStore
import TrawlURL

/// What all fetches of a coordinator have in common as to cookies.
struct CookieSettings: Sendable {
    /// Whether requests use the shared jar unless they say otherwise.
    let isOn: Bool
    /// What requests that do not say accept.
    let accepts: RequestOptions.Cookies.AcceptPolicy
    /// The ways of requests that do not say theirs.
    let proxies: ProxyRules
    /// What the store remembers.
    let state: StateShelf
    /// The jars in memory.
    let memory: MemoryJars

    /// Domains nobody may set cookies for.
    static let suffixes = PublicSuffixTest { PublicSuffixes.contains($0) }

    init(_ configuration: Configuration, state: StateShelf) {
        isOn = configuration.cookies.isOn
        accepts = configuration.cookies.accepts
        proxies = configuration.proxy.rules
        self.state = state
        memory = MemoryJars()
    }

    /// Removes what the coordinator's fetches took, from all jars; from those of the store in one change.
    ///
    /// - Throws: `storeUnusable`; those of jars in memory are gone then too. `cancelled` when the calling task is: they
    ///   are removed all the same.
    func removeAcceptedInSession() async throws(FetchError) {
        let session = state.sessionID.first
        memory.removeAccepted(in: session)
        if state.openedStore == nil { return }
        _ = try await state.change { (store) throws(StoreError) in
            try StoredCookies.removeInGroup(fromAllJarsOf: store) { $0.session == session }
        }
    }
}
