package import TrawlHTTP
package import TrawlSession

/// The cookies of a response on their way through the store thread.
///
/// `@unchecked Sendable`: from the moment it is handed over only the store thread touches it, one call after the other.
private final class CookieWrite: GroupedWrite, @unchecked Sendable {
    private let store: StateStore
    private let received: [ReceivedCookie]
    private let jar: String
    private let now: WallTime
    private let then: @Sendable (Bool) -> Void
    private var hasChanged = false

    init(
        _ store: StateStore, _ received: [ReceivedCookie], _ jar: String, _ now: WallTime,
        _ then: @escaping @Sendable (Bool) -> Void
    ) {
        self.store = store
        self.received = received
        self.jar = jar
        self.now = now
        self.then = then
    }

    func run(in transaction: borrowing Transaction) throws(StoreError) {
        let changes = try CookieTable.store(received, jar: jar, at: now, in: transaction, state: store)
        hasChanged = changes.contains { $0 != nil && $0 != CookieChange.nothing }
        if hasChanged { store.raise(.cookies) }
    }

    func ended(_ failure: StoreError?) {
        if failure == nil, hasChanged { store.raise(.cookies) }
        then(failure == nil)
    }
}

extension StateStore {
    /// Has the cookies of a response stored on the store thread, together with others.
    ///
    /// - Parameters:
    ///   - enough: With so many changes waiting they are committed at once.
    ///   - then: Called once, with whether they are stored: after the commit on the store thread, or at once on the
    ///     caller's when that is refused.
    package func store(
        _ received: [ReceivedCookie], jar: String, at now: WallTime, _ urgency: GroupedWrites.Urgency, enough: Int,
        then: @escaping @Sendable (Bool) -> Void
    ) {
        hand(CookieWrite(self, received, jar, now, then), urgency, enough: enough)
    }
}
