/// How credentials of a fetch are looked for.
package struct SearchPolicy: Sendable, Hashable {
    /// When a password given with the request, or with the proxy, is sent by Basic before a challenge.
    package enum BasicAhead: Sendable, Hashable {
        case never
        /// Where no other scheme is allowed.
        case whenAlone
        /// Where Basic is allowed, until something stronger is known to work.
        case always
    }

    /// Which challenges are answered.
    package var rules = SchemeRules()
    /// Where is looked. Without the session nothing is kept there either; a fetch nobody may be asked for lacks
    /// decision and prompt.
    package var sources: Set<CredentialSource> = [.explicit, .url, .session, .decision]
    /// Whether credentials of the session are sent before a challenge.
    package var sendsAhead = true
    /// When such a password goes ahead.
    package var basicAhead = BasicAhead.whenAlone
    /// How many credentials may be refused before the fetch gives up.
    package var maxAttempts = 5
    /// Whether the caller wrote the field of credentials himself: then all answers are his business.
    package var isByHand = false

    /// The usual policy.
    package init() {}
}
