import Synchronization

/// Whether anything is kept for the session, for callers' threads to see without asking the supervisor.
final class CredentialState: Sendable {
    private let isKept = Atomic(false)

    /// Said by the supervisor.
    func set(isKept: Bool) { self.isKept.store(isKept, ordering: .releasing) }

    /// Whether a request of a plan may say who it is made as before anybody asks.
    func mayConcern(_ plan: borrowing FetchPlan) -> Bool {
        let terms = plan.terms.authentication
        guard terms.isOn else { return false }
        return terms.maySendOwnAhead(for: plan.target) || (terms.readsSession && isKept.load(ordering: .acquiring))
    }
}
