/// What goes into a search and comes out of it.
extension CredentialSearch {
    /// Credentials to send, and what is known about where they go.
    package struct Proposal: Sendable, Hashable {
        /// What to send.
        package let credentials: Credentials
        /// Where it came from.
        package let source: CredentialSource
        /// The scheme to send it by.
        package let scheme: AuthenticationScheme
        /// What it is for; nil when nobody has asked yet and no realm is known.
        package let space: ProtectionSpace?
        /// The challenge of Digest to answer; nil when sent ahead, with the nonce that is there.
        package let digest: DigestChallenge?
        /// Whether it was sent before a challenge.
        package let isAhead: Bool
    }

    /// What to do with a response that challenges, or after an answer.
    package enum Action: Equatable, Sendable {
        /// Hand the response on: it is an answer like any other.
        case deliver
        /// Look there for credentials for this challenge, and come back with what was found.
        case ask(CredentialSource, ChallengeCandidate, failures: Int)
        /// Send the request again with these.
        case send(Proposal)
        /// There is nothing left to try.
        case giveUp(Reason)
        /// Nothing: the event came too late.
        case none
    }

    /// Why there are no credentials.
    package enum Reason: Sendable, Hashable {
        /// None were found.
        case noCredentials
        /// All that were found were refused.
        case refused
        /// More were refused than the policy allows, or the server has asked too often.
        case tooManyAttempts
        /// No challenge that may be answered.
        case noUsableScheme
        /// Somebody who was asked said so.
        case cancelled
    }

    /// What to do about a challenge.
    package struct Step: Equatable, Sendable {
        /// Credentials to take out of the session store, if they still are what is there.
        package let forgotten: SessionEntry?
        /// What to do then.
        package let action: Action
    }

    /// What somebody who was asked said.
    package enum Answer: Sendable, Hashable {
        /// Use these.
        case use(Credentials)
        /// Nothing to say: go on as if nobody were here to ask.
        case none
        /// Not for this space; perhaps for the next.
        case rejectSpace
        /// Stop.
        case cancel
    }

    /// What a response proves that does not challenge.
    package enum Acceptance: Equatable, Sendable {
        /// Keep these in the session store, in place of others of their space; and in the vault.
        case keep(SessionEntry, permanently: Bool)
        /// Keep these in the vault alone: the fetch does not use the session.
        case save(SessionEntry)
        /// They worked, and there is nothing to keep.
        case nothing
        /// It proves nothing: a failure, or an answer to nothing that was said.
        case unjudged
    }
}
