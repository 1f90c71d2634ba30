/// How much of the challenges of one response is read.
///
/// What is beyond is not looked at: a server that sends more has no one to blame but itself.
package struct ChallengeLimits: Sendable, Hashable {
    /// Bytes of all field lines together. A Kerberos ticket can take 64 KiB.
    package var bytes = 128 << 10
    /// Challenges.
    package var challenges = 32
    /// Parameters of one challenge.
    package var parameters = 32
    /// Bytes of a parameter's value; one that is longer is left out. Tokens are bound by `bytes` alone.
    package var valueBytes = 8 << 10

    /// The usual limits.
    package init() {}
}
