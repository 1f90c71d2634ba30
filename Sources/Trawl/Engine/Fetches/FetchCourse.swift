import TrawlHTTP

/// What a hop that is a fetch of its own (`ProgramCacheExchange`, a validation that nobody waits for) has of the fetch
/// whose hop it is.
final class FetchCourse: Sendable {
    /// What a fetch began with: by that it is known whom it names, and where the secrets of its request belong.
    struct Beginning: Sendable {
        /// What was asked for, with user and password of its URL.
        let target: TargetURI
        let terms: FetchTerms
        /// Whether a redirect has led to another origin since, by way of other hops than the one that has this.
        private(set) var hasLeftOrigin = false

        /// A fetch begins by this plan.
        init(_ plan: FetchPlan) {
            target = plan.target
            terms = plan.terms
        }

        /// What a fetch began with, for a hop of its own at where it is now.
        init(_ fetch: RunningFetch) {
            self = fetch.beginning
            hasLeftOrigin = fetch.engine.hasLeftOrigin
        }

        /// A redirect leads from one target to another.
        mutating func turned(from here: TargetURI, to next: TargetURI) {
            if next.origin != here.origin { hasLeftOrigin = true }
        }
    }

    let beginning: Beginning
    /// The clock of all hops; nil where nobody waits.
    let clock: FetchClock?

    init(_ beginning: Beginning, _ clock: FetchClock?) {
        self.beginning = beginning
        self.clock = clock
    }
}
