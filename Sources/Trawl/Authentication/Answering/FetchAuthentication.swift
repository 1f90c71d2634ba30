import TrawlHTTP
import TrawlSession

/// What one fetch says about who it is made as, towards its server and its proxy. Fetches nobody asks have none.
///
/// Bound to the supervisor thread.
final class FetchAuthentication {
    /// The exchange with one of the two.
    struct Side {
        var search: CredentialSearch
        /// Who is spoken to; a search is for one proxy.
        let home: Origin
        /// Whether the search knows that the hop began.
        var isBegun = false
        /// What the hop says.
        var proposal: CredentialSearch.Proposal?
        /// The field's value, for schemes where it is the same each time.
        var value: [UInt8]?
        /// Stands for what is said, to the cache, where the field differs each time.
        var identity: [UInt8]?
        /// What the lease in flight proves, for Digest.
        var proof: DigestProof?
        /// Challenges answered.
        var rounds = 0

        init(_ search: CredentialSearch, home: Origin) {
            self.search = search
            self.home = home
        }

        /// Nothing is said any more.
        mutating func clear() {
            proposal = nil
            value = nil
            identity = nil
            proof = nil
        }

        /// For the response; nil when nothing was said.
        var report: AuthenticationReport? {
            proposal.map {
                AuthenticationReport(
                    scheme: $0.scheme.name, realm: ($0.space ?? search.lastSpace)?.realmText,
                    source: .init($0.source), rounds: rounds, failures: search.attempts, isAhead: $0.isAhead)
            }
        }
    }

    /// What follows when the hop that was challenged is over.
    enum Next {
        case send(AuthenticationSide, CredentialSearch.Proposal)
        case ask(AuthenticationSide, CredentialSource, ChallengeCandidate, failures: Int)
        case fail(FetchError)
    }

    /// A question that is open.
    struct Question {
        /// Tells its answer from that of an earlier one.
        let number: UInt64
        let side: AuthenticationSide
        let candidate: ChallengeCandidate
        /// What others with the same question wait for.
        let subject: CredentialSubject
        let source: CredentialSource
        let failures: Int
    }

    var server: Side?
    var proxy: Side?
    var next: Next?
    var question: Question?
    /// Asks the vault, the program or the person, for this fetch's question.
    var asking: Task<Void, Never>?
    /// The head that challenged, for who is asked.
    var head: TrawlHTTP.ResponseHead?
    /// Whose next challenge is the answer, since nobody has anything to say to it.
    var deliversNext: AuthenticationSide?
    /// What others may wait for this fetch to prove.
    var proving: CredentialSubject?
    /// What proves the body, where a server insists on that.
    var bodyDigests = BodyDigests()

    subscript(side: AuthenticationSide) -> Side? {
        get { side == .server ? server : proxy }
        set { if side == .server { server = newValue } else { proxy = newValue } }
    }
}
