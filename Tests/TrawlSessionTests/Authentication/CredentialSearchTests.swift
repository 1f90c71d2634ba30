import TestSupport
import Testing
import TrawlHTTP

@testable import TrawlSession

@Suite("The search for credentials, ASI-AUTH-03, 13, ULS-AUTH-05")
struct CredentialSearchTests {
    private static let everywhere = Set(CredentialSource.allCases)
    private static let basic = #"Basic realm="r""#

    private func policy(_ change: (inout SearchPolicy) -> Void = { _ in }) -> SearchPolicy {
        var policy = SearchPolicy()
        policy.sources = Self.everywhere
        change(&policy)
        return policy
    }

    private func search(
        _ policy: SearchPolicy, side: AuthenticationSide = .server, explicit: Credentials? = nil,
        url: Credentials? = nil
    ) -> CredentialSearch {
        var search = CredentialSearch(side: side, policy: policy, home: secureOrigin, explicit: explicit, url: url)
        _ = search.began(.at("/"), at: secureOrigin, entries: [])
        return search
    }

    private func user(_ name: String, _ persistence: Credentials.Persistence = .session) -> Credentials {
        Credentials(user: name, password: "p", persistence: persistence)
    }

    /// What was sent: source, scheme and user.
    private func sent(_ action: CredentialSearch.Action) -> String? {
        guard case .send(let proposal) = action else { return nil }
        return "\(proposal.source) \(proposal.scheme.name) \(proposal.credentials.user ?? "-")"
    }

    private func asked(_ action: CredentialSearch.Action) -> CredentialSource? {
        guard case .ask(let source, _, _) = action else { return nil }
        return source
    }

    private func entry(
        _ credentials: Credentials, _ scheme: AuthenticationScheme = .basic, realm: String? = "r", path: String = "/",
        origin: Origin = secureOrigin, side: AuthenticationSide = .server
    ) -> SessionEntry {
        let space = ProtectionSpace(side: side, origin: origin, scheme: scheme, realm: realm?.raw)
        return SessionEntry(
            space: space, credentials: credentials, scope: PreemptionScope(space, for: .at(path, origin), digest: nil))
    }

    // MARK: Order

    @Test("sources are tried in one order, each once refused making place for the next")
    func order() throws {
        let challenges = try ChallengeList(Self.basic)
        var named = search(policy(), explicit: user("explicit"), url: user("url"))
        #expect(sent(named.challenged(by: challenges).action) == "request Basic explicit")
        #expect(sent(named.challenged(by: challenges).action) == "URL Basic url")
        #expect(asked(named.challenged(by: challenges).action) == .session)
        var search = search(policy { $0.maxAttempts = 10 })
        for source in [CredentialSource.session, .netrc, .vault, .decision, .prompt] {
            // All that come before are asked again, since another fetch may have put better ones there.
            var action = search.challenged(by: challenges).action
            while let place = asked(action), place != source { action = search.answered(.none) }
            #expect(asked(action) == source)
            #expect(sent(search.answered(.use(user("\(source)")))) == "\(source) Basic \(source)")
        }
        var action = search.challenged(by: challenges).action
        while asked(action) != nil { action = search.answered(.none) }
        #expect(action == .giveUp(.refused))
        #expect(search.attempts == 5)
    }

    @Test("a source that is off is passed over", arguments: CredentialSource.allCases)
    func off(source: CredentialSource) throws {
        var search = search(policy { $0.sources.remove(source) }, explicit: user("explicit"), url: user("url"))
        var action = search.challenged(by: try ChallengeList(Self.basic)).action
        var seen: [CredentialSource] = []
        search: while true {
            switch action {
            case .send(let proposal):
                seen.append(proposal.source)
                action = search.challenged(by: try ChallengeList(Self.basic)).action
            case .ask(let place, _, _):
                seen.append(place)
                action = search.answered(.none)
            case .deliver, .giveUp, .none: break search
            }
        }
        #expect(seen == CredentialSource.allCases.filter { $0 != source })
    }

    @Test("without any source there are no credentials")
    func nothing() throws {
        var search = search(policy { $0.sources = [] }, explicit: user("x"))
        #expect(search.challenged(by: try ChallengeList(Self.basic)).action == .giveUp(.noCredentials))
    }

    @Test("what was refused is not proposed again, from whatever source and for whatever scheme")
    func neverAgain() throws {
        var search = search(policy(), explicit: user("a"), url: user("a"))
        let both = try ChallengeList(#"Basic realm="r", Digest realm="r", nonce="n""#)
        #expect(sent(search.challenged(by: both).action) == "request Digest a")
        // Digest is gone: Basic would give the refused password away.
        #expect(asked(search.challenged(by: try ChallengeList(Self.basic)).action) == .session)
        #expect(asked(search.answered(.use(user("a")))) == .netrc)
        #expect(asked(search.answered(.use(user("a")))) == .vault)
        #expect(asked(search.answered(.use(user("a", .permanent)))) == .decision)
        let again = search.answered(.use(user("a")))
        guard case .ask(.decision, _, failures: 2) = again else {
            Issue.record("\(again)")
            return
        }
        #expect(sent(search.answered(.use(user("b")))) == "decision Basic b")
    }

    @Test("the decision may be right at the fifth try and no later")
    func attempts() throws {
        var search = search(policy { $0.sources = [.decision] })
        let challenges = try ChallengeList(Self.basic)
        for number in 1...5 {
            let action = search.challenged(by: challenges).action
            guard case .ask(.decision, let candidate, let failures) = action else {
                Issue.record("\(number): \(action)")
                return
            }
            #expect(failures == number - 1)
            #expect(candidate.space.realmText == "r")
            #expect(sent(search.answered(.use(user("\(number)")))) == "decision Basic \(number)")
        }
        #expect(search.challenged(by: challenges).action == .giveUp(.tooManyAttempts))
        #expect(search.attempts == 5)
    }

    @Test("who gives the same answer for ever is asked a bounded number of times")
    func stubborn() throws {
        var search = search(policy { $0.sources = [.decision] })
        let challenges = try ChallengeList(Self.basic)
        _ = search.challenged(by: challenges)
        _ = search.answered(.use(user("a")))
        var action = search.challenged(by: challenges).action
        var questions = 0
        while asked(action) != nil {
            questions += 1
            action = search.answered(.use(user("a")))
        }
        #expect(questions == 4)
        #expect(action == .giveUp(.tooManyAttempts))
    }

    @Test(
        "a server that challenges for ever, with realms and nonces ever new, is left after a bounded number of rounds")
    func endless() throws {
        for isStale in [true, false] {
            var search = search(policy { $0.sources = [.session, .decision] })
            var rounds = 0
            var nonce = ""
            while true {
                rounds += 1
                try #require(rounds < 100)
                let challenges = try ChallengeList(
                    #"Digest realm="\#(isStale ? 0 : rounds)", nonce="\#(rounds)", stale=\#(isStale)"#)
                var action = search.challenged(by: challenges, sentNonce: nonce.raw).action
                while asked(action) == .session { action = search.answered(.none) }
                if asked(action) != nil { action = search.answered(.use(user("\(rounds)"))) }
                if action == .giveUp(.tooManyAttempts) { break }
                #expect(sent(action) != nil)
                nonce = "\(rounds)"
            }
            #expect(rounds <= 20)
        }
    }

    // MARK: Answers

    @Test("the four answers are four: use, leave it to others, not this space, stop")
    func answers() throws {
        let three = try ChallengeList(#"Negotiate, Digest realm="d", nonce="n", Basic realm="b""#)
        func schemes(_ answers: [CredentialSearch.Answer]) throws -> (asked: [String], end: CredentialSearch.Action) {
            var search = search(policy { $0.sources = [.decision, .prompt] })
            var action = search.challenged(by: three).action
            var seen: [String] = []
            for answer in answers {
                guard case .ask(let source, let candidate, _) = action else { break }
                seen.append("\(source) \(candidate.scheme.name)")
                action = search.answered(answer)
            }
            return (seen, action)
        }
        var found = try schemes([.rejectSpace, .rejectSpace, .use(user("a"))])
        #expect(found.asked == ["decision Negotiate", "decision Digest", "decision Basic"])
        #expect(sent(found.end) == "decision Basic a")
        found = try schemes([.none, .none])
        #expect(found.asked == ["decision Negotiate", "prompt Negotiate"])
        #expect(found.end == .giveUp(.noCredentials))
        found = try schemes([.rejectSpace, .none, .use(user("a"))])
        #expect(found.asked == ["decision Negotiate", "decision Digest", "prompt Digest"])
        #expect(sent(found.end) == "prompt Digest a")
        found = try schemes([.rejectSpace, .rejectSpace, .rejectSpace])
        #expect(found.end == .giveUp(.noCredentials))
        found = try schemes([.cancel])
        #expect(found.end == .giveUp(.cancelled))
    }

    @Test("a space that was rejected is not offered again to the fetch")
    func rejected() throws {
        var search = search(policy { $0.sources = [.decision] })
        let two = try ChallengeList(#"Digest realm="d", nonce="n", Basic realm="b""#)
        _ = search.challenged(by: two)
        _ = search.answered(.rejectSpace)
        #expect(sent(search.answered(.use(user("a")))) == "decision Basic a")
        guard case .ask(.decision, let candidate, failures: 1) = search.challenged(by: two).action else {
            Issue.record("not asked")
            return
        }
        #expect(candidate.scheme == .basic)
        _ = search.answered(.rejectSpace)
        #expect(search.challenged(by: two).action == .giveUp(.noUsableScheme))
    }

    @Test("stores are asked about each space, strongest first, and netrc once about passwords")
    func spaces() throws {
        var search = search(policy { $0.sources = [.session, .netrc] })
        let challenges = try ChallengeList(#"Basic realm="b", Bearer realm="t", Digest realm="d", nonce="n""#)
        var action = search.challenged(by: challenges).action
        var seen: [String] = []
        while case .ask(let source, let candidate, _) = action {
            seen.append("\(source) \(candidate.scheme.name)")
            action = search.answered(.none)
        }
        #expect(seen == ["session Digest", "session Bearer", "session Basic", "netrc Digest"])
        var bearer = self.search(policy { $0.sources = [.netrc] })
        #expect(bearer.challenged(by: try ChallengeList("Bearer")).action == .giveUp(.noCredentials))
        var proxy = self.search(policy { $0.sources = [.netrc] }, side: .proxy)
        var fields = FieldLines()
        try fields.append("Proxy-Authenticate", Self.basic)
        #expect(proxy.challenged(by: ChallengeList(fields, from: .proxy)).action == .giveUp(.noCredentials))
    }

    @Test("credentials go to the strongest challenge they are for")
    func fitting() throws {
        let challenges = try ChallengeList(
            #"Basic realm="b", Bearer realm="t", Digest realm="d", nonce="n", Negotiate"#)
        var withToken = CredentialSearch(
            side: .server, policy: policy { $0.sources = [.decision] }, home: secureOrigin)
        _ = withToken.began(.at("/"), at: secureOrigin, entries: [])
        _ = withToken.challenged(by: challenges)
        guard case .send(let proposal) = withToken.answered(.use(Credentials(bearer: "t"))) else {
            Issue.record("nothing sent")
            return
        }
        #expect(proposal.scheme == .bearer)
        var withPassword = search(policy(), explicit: user("a"))
        #expect(sent(withPassword.challenged(by: challenges).action) == "request Digest a")
        // What answers Negotiate is a ticket, and nothing else takes it here.
        var lonely = search(policy(), explicit: user("a"))
        #expect(sent(lonely.challenged(by: try ChallengeList("Negotiate")).action) == "request Negotiate a")
        var withTicket = search(policy(), explicit: Credentials(.ticket))
        #expect(sent(withTicket.challenged(by: challenges).action) == "request Negotiate -")
        // Of no use here: the next source is asked.
        var useless = search(policy(), explicit: Credentials(.ticket))
        #expect(asked(useless.challenged(by: try ChallengeList(Self.basic)).action) == .session)
    }

    // MARK: What is no question

    @Test("a 401 without a challenge, or to a request whose field was written by hand, is an answer like any other")
    func deliver() throws {
        var search = search(policy(), explicit: user("a"))
        #expect(search.challenged(by: try ChallengeList("")).action == .deliver)
        #expect(search.challenged(by: ChallengeList(FieldLines(), from: .server)).action == .deliver)
        var byHand = self.search(policy { $0.isByHand = true }, explicit: user("a"))
        #expect(byHand.challenged(by: try ChallengeList(Self.basic)).action == .deliver)
        #expect(byHand.began(.at("/"), at: secureOrigin, entries: [entry(user("b"))]) == nil)
    }

    @Test("no challenge that may be answered ends the search")
    func unusable() throws {
        for text in ["NTLM", "Unheard x=y", #"Digest realm="r""#] {
            var search = search(policy(), explicit: user("a"))
            #expect(search.challenged(by: try ChallengeList(text)).action == .giveUp(.noUsableScheme))
        }
        var clear = CredentialSearch(side: .server, policy: policy(), home: plainOrigin, explicit: user("a"))
        _ = clear.began(.at("/", plainOrigin), at: plainOrigin, entries: [])
        #expect(clear.challenged(by: try ChallengeList(Self.basic)).action == .giveUp(.noUsableScheme))
    }

    @Test("events that come too late change nothing")
    func late() throws {
        var search = search(policy())
        #expect(search.answered(.use(user("a"))) == .none)
        #expect(search.accepted(status: 200) == .unjudged)
        #expect(asked(search.challenged(by: try ChallengeList(Self.basic)).action) == .session)
        #expect(search.challenged(by: try ChallengeList(Self.basic)) == .init(forgotten: nil, action: .none))
        #expect(search.accepted(status: 200) == .unjudged)
        #expect(sent(search.answered(.use(user("a")))) == "session Basic a")
        #expect(search.answered(.cancel) == .none)
    }

    @Test("server and proxy count apart")
    func sides() throws {
        var server = search(policy { $0.sources = [.explicit] }, explicit: user("s"))
        var proxy = search(policy { $0.sources = [.explicit, .session] }, side: .proxy, explicit: user("x"))
        var fields = FieldLines()
        try fields.append("Proxy-Authenticate", Self.basic)
        #expect(sent(proxy.challenged(by: ChallengeList(fields, from: .proxy)).action) == "request Basic x")
        // The server's 401 shows that the proxy was satisfied.
        guard case .keep(let kept, _) = proxy.accepted(status: 401) else {
            Issue.record("nothing kept")
            return
        }
        #expect(kept.space.side == .proxy)
        #expect(sent(server.challenged(by: try ChallengeList(Self.basic)).action) == "request Basic s")
        // A proxy's 407 says nothing about the server.
        #expect(server.accepted(status: 407) == .unjudged)
        #expect(server.challenged(by: try ChallengeList(Self.basic)).action == .giveUp(.refused))
        #expect(server.attempts == 1 && proxy.attempts == 0)
        #expect(server.lastSpace?.side == .server)
    }
}
