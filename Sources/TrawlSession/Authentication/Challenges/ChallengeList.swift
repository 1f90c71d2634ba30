package import TrawlHTTP

/// The challenges of a response, in order, from all field lines of a side.
///
/// - Source: RFC 9110 §11.6.1, §11.7.1.
package struct ChallengeList: Sendable, Hashable {
    /// What was understood, schemes nobody here knows included.
    package let challenges: [Challenge]
    /// Whether something was beyond the limits and not read.
    package let isCut: Bool

    /// The challenges in a header section.
    package init(_ fields: FieldLines, from side: AuthenticationSide, limits: ChallengeLimits = ChallengeLimits()) {
        var parser = ChallengeParser(limits: limits)
        // RFC 9110 §5.3: several lines are one list; a parameter may even stand on the line after its scheme.
        fields.forEach { name, value in
            if FieldSyntax.equalIgnoringCase(name, side.challengeField) { parser.read(value) }
        }
        (challenges, isCut) = parser.finish()
    }

    /// Whether there is none: such a 401 is a response like any other.
    package var isEmpty: Bool { challenges.isEmpty }
}
