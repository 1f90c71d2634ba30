import TestSupport
import Testing
import TrawlHTTP
import TrawlSession

@testable import Trawl

@Suite("What worked in a session, ASI-AUTH-09, 11")
struct SessionCredentialsTests {
    private static let origin = Origin(scheme: "https", host: "a.test", port: 443)

    private func entry(
        _ password: String = "p", realm: String? = "r", origin: Origin = Self.origin, paths: [String] = ["/"],
        persistence: Credentials.Persistence = .session
    ) -> SessionEntry {
        let space = ProtectionSpace(
            side: .server, origin: origin, scheme: .basic, realm: realm.map { Array($0.utf8) })
        return SessionEntry(
            space: space, credentials: Credentials(user: "u", password: password, persistence: persistence),
            scope: PreemptionScope(side: .server, origin: origin, paths: paths.map { Array($0.utf8) }))
    }

    /// What a fetch says to a challenge.
    private func answer(to challenge: String) throws -> CredentialSearch.Proposal {
        var fields = FieldLines()
        try fields.append("WWW-Authenticate", challenge)
        var search = CredentialSearch(
            side: .server, policy: SearchPolicy(), home: Self.origin, explicit: Credentials(user: "u", password: "p"))
        let action = search.challenged(by: ChallengeList(fields, from: .server)).action
        let proposal: CredentialSearch.Proposal? = if case .send(let proposal) = action { proposal } else { nil }
        return try #require(proposal)
    }

    /// What the next fetch says before it is asked, when that has worked.
    private func ahead(after answer: CredentialSearch.Proposal) throws -> CredentialSearch.Proposal {
        let entry = SessionEntry(
            space: try #require(answer.space), credentials: answer.credentials,
            scope: PreemptionScope(side: .server, origin: Self.origin, paths: nil))
        var search = CredentialSearch(side: .server, policy: SearchPolicy(), home: Self.origin)
        let target = TargetURI(
            origin: Self.origin, text: Self.origin.text + "/", pathStart: Self.origin.text.utf8.count, queryStart: nil)
        let proposal = search.began(target, at: Self.origin, entries: [entry])
        return try #require(proposal)
    }

    @Test("what is sent ahead answers the challenge of the nonce that is there")
    func challengeAhead() throws {
        var credentials = SessionCredentials(CredentialState())
        let answer = try answer(to: #"Digest realm="r", nonce="n", qop="auth-int", algorithm=SHA-256"#)
        let ahead = try ahead(after: answer)
        #expect(credentials.challenge(of: answer) == answer.digest)
        #expect(ahead.digest == nil && credentials.challenge(of: ahead) == nil)
        _ = try credentials.prove(DigestRequest(method: .get, target: [0x2F], bodyHash: [1]), by: answer)
        #expect(credentials.challenge(of: ahead) == answer.digest)
    }

    @Test("a nonce that the server has replaced goes on with its counts when it asks with it again")
    func replacedNonce() throws {
        var credentials = SessionCredentials(CredentialState())
        let answer = try answer(to: #"Digest realm="r", nonce="n0", qop="auth", algorithm=SHA-256"#)
        var info = FieldLines()
        try info.append("Authentication-Info", #"nextnonce="n1""#)
        var sent: [String] = []
        let ahead = try ahead(after: answer)
        for proposal in [answer, ahead, answer] {
            let proof = try credentials.prove(DigestRequest(method: .get, target: [0x2F]), by: proposal)
            let parts = String(decoding: proof.fieldValue, as: UTF8.self).split(separator: ", ")
            sent += parts.filter { $0.hasPrefix("nonce=") || $0.hasPrefix("nc=") }.map { String($0) }
            if sent.count == 2 { credentials.finish(proof, of: proposal, info, from: .server) }
        }
        #expect(
            sent == [
                #"nonce="n0""#, "nc=00000001", #"nonce="n1""#, "nc=00000001", #"nonce="n0""#, "nc=00000002",
            ])
    }

    @Test("what works again changes nothing, and what is wider or other does")
    func changes() {
        var credentials = SessionCredentials(CredentialState())
        credentials.keep(entry())
        credentials.keep(entry("q", realm: "s"))
        #expect(credentials.changes == 2)
        credentials.keep(entry())
        credentials.keep(entry(paths: ["/a/"], persistence: .permanent))
        #expect(credentials.changes == 2)
        credentials.keep(entry("other"))
        #expect(credentials.changes == 3 && credentials.all.count == 2)
        let narrow = entry("n", realm: "t", paths: ["/a/"])
        credentials.keep(narrow)
        credentials.keep(entry("n", realm: "t", paths: ["/b/"]))
        #expect(credentials.changes == 5)
        #expect(credentials.entry(for: narrow.space)?.scope?.paths?.count == 2)
    }

    @Test("who is told of changes can follow them once more, on whatever executor it waits")
    func followers() async {
        let state = CredentialState()
        let executor = AskingExecutor { _ = state.changes }
        let changes = state.changes
        let (isRead, read) = AsyncStream.makeStream(of: UInt64.self)
        let following = Task(executorPreference: executor) {
            for await change in changes { read.yield(change) }
            read.finish()
        }
        var found = isRead.makeAsyncIterator()
        for change in UInt64(1)...5 {
            // So that whoever tells resumes it.
            while !executor.isIdle { await Task.yield() }
            state.tell(change)
            #expect(await found.next() == change)
        }
        state.end()
        #expect(await found.next() == nil)
        await following.value
        #expect(executor.unansweredCount == 0)
    }

    @Test("what the session hands on is kept for the session, wherever it came from")
    func persistence() {
        var credentials = SessionCredentials(CredentialState())
        credentials.keep(entry(persistence: .permanent))
        #expect(credentials.all.map(\.credentials.persistence) == [.session])
    }

    @Test("a vault is given the same once, and other credentials of the space again")
    func saved() {
        var credentials = SessionCredentials(CredentialState())
        func isNews(_ entry: SessionEntry) -> Bool { credentials.noteSaved(entry) }
        #expect(isNews(entry()))
        #expect(!isNews(entry()))
        #expect(isNews(entry(realm: "s")))
        #expect(isNews(entry("q")))
        #expect(!isNews(entry("q")))
        #expect(isNews(entry()))
        credentials.removeAll()
        #expect(isNews(entry()))
    }

    // Work that grows with what was kept before would take minutes.
    @Test("realms and servers without number take bounded room and time", .timeLimit(.minutes(10)))
    func bounded() {
        var credentials = SessionCredentials(CredentialState())
        let realms = ProcessorTime.spent {
            for number in 0..<100_000 { credentials.keep(entry(realm: "\(number)")) }
        }
        #expect(credentials.all.count == 32)
        #expect(credentials.entry(for: entry(realm: "99999").space) != nil)
        let used = Origin(scheme: "https", host: "used.test", port: 443)
        credentials.keep(entry(origin: used))
        let servers = ProcessorTime.spent {
            for number in 0..<100_000 {
                credentials.keep(entry(origin: Origin(scheme: "https", host: "h\(number).test", port: 443)))
                if number % 1000 == 0 { #expect(credentials.use(used, .server).count == 1) }
            }
        }
        #expect(realms + servers < .seconds(60))
        #expect(credentials.all.count < 70_000)
        #expect(credentials.entries(of: used, .server).count == 1)
        #expect(credentials.entries(of: Self.origin, .server).isEmpty)
    }
}
