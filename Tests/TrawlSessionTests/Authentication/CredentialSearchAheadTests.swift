import Testing
import TrawlHTTP

@testable import TrawlSession

@Suite("Credentials before a challenge, and what becomes of them, ASI-AUTH-12")
struct CredentialSearchAheadTests {
    private static let basic = #"Basic realm="r""#

    private func user(_ name: String, _ persistence: Credentials.Persistence = .session) -> Credentials {
        Credentials(user: name, password: "p", persistence: persistence)
    }

    private func entry(
        _ credentials: Credentials, _ scheme: AuthenticationScheme = .basic, realm: String? = "r", path: String = "/",
        origin: Origin = secureOrigin, side: AuthenticationSide = .server
    ) -> SessionEntry {
        let space = ProtectionSpace(side: side, origin: origin, scheme: scheme, realm: realm?.raw)
        return SessionEntry(
            space: space, credentials: credentials, scope: PreemptionScope(space, for: .at(path, origin), digest: nil))
    }

    private func search(
        _ change: (inout SearchPolicy) -> Void = { _ in }, explicit: Credentials? = nil, url: Credentials? = nil,
        home: Origin = secureOrigin
    ) -> CredentialSearch {
        var policy = SearchPolicy()
        change(&policy)
        return CredentialSearch(side: .server, policy: policy, home: home, explicit: explicit, url: url)
    }

    private func text(_ proposal: CredentialSearch.Proposal?) -> String? {
        proposal.map { "\($0.source) \($0.scheme.name) \($0.credentials.user ?? "-")\($0.isAhead ? " ahead" : "")" }
    }

    private func sent(_ action: CredentialSearch.Action) -> String? {
        guard case .send(let proposal) = action else { return nil }
        return text(proposal)
    }

    @Test("passwords of the request go ahead only when nothing but Basic will do, tokens always")
    func explicit() {
        var any = search(explicit: user("a"))
        #expect(any.began(.at("/"), at: secureOrigin, entries: []) == nil)
        var basic = search({ $0.rules.allowed = .basic }, explicit: user("a"))
        #expect(text(basic.began(.at("/"), at: secureOrigin, entries: [])) == "request Basic a ahead")
        var url = search({ $0.rules.allowed = .basic }, url: user("a"))
        #expect(text(url.began(.at("/"), at: secureOrigin, entries: [])) == "URL Basic a ahead")
        var token = search(explicit: Credentials(bearer: "t"))
        #expect(text(token.began(.at("/"), at: secureOrigin, entries: [])) == "request Bearer - ahead")
        var ticket = search({ $0.rules.allowed = .negotiate }, explicit: Credentials(.ticket))
        #expect(ticket.began(.at("/"), at: secureOrigin, entries: []) == nil)
    }

    @Test(
        "of a proxy's user Basic goes ahead where other schemes are allowed too, unless a stronger one is known to work"
    )
    func sendsBasicAhead() throws {
        func proxy(
            _ allowed: SchemeSet = [.basic, .digest], _ basicAhead: SearchPolicy.BasicAhead = .always
        ) -> CredentialSearch {
            var policy = SearchPolicy()
            policy.rules.allowed = allowed
            policy.rules.allowsSecretInClear = true
            policy.basicAhead = basicAhead
            return CredentialSearch(side: .proxy, policy: policy, home: plainOrigin, explicit: user("a"))
        }
        func ahead(_ search: CredentialSearch, _ entries: [SessionEntry]) -> String? {
            var search = search
            return text(search.began(.at("/"), at: plainOrigin, entries: entries))
        }
        func known(_ name: String, _ scheme: AuthenticationScheme) -> SessionEntry {
            entry(user(name), scheme, origin: plainOrigin, side: .proxy)
        }
        #expect(ahead(proxy(), []) == "request Basic a ahead")
        #expect(ahead(proxy(.digest), []) == nil)
        for allowed in [SchemeSet.basic, [.basic, .digest]] {
            #expect(ahead(proxy(allowed, .never), []) == nil)
            #expect(ahead(proxy(allowed, .never), [known("a", .basic)]) == "session Basic a ahead")
        }
        #expect(ahead(proxy(), [known("a", .basic)]) == "request Basic a ahead")
        #expect(ahead(proxy(), [known("a", .digest)]) == "session Digest a ahead")
        #expect(ahead(proxy(), [known("b", .digest)]) == "request Basic a ahead")
        // Who wants Digest has not looked at it, and who wants Basic has.
        for (challenge, wanted) in [
            (#"Digest realm="r", nonce="n""#, "request Digest a" as String?), (Self.basic, nil),
            (#"Digest realm="r", nonce="n", Basic realm="r""#, nil), ("Other", nil),
        ] {
            var search = proxy()
            _ = search.began(.at("/"), at: plainOrigin, entries: [])
            let action = search.challenged(by: try ChallengeList(challenge)).action
            var asked = action
            while case .ask = asked { asked = search.answered(.none) }
            #expect(sent(asked) == wanted, "\(challenge)")
            #expect(search.attempts == (wanted == nil ? 1 : 0), "\(challenge)")
        }
    }

    @Test("nothing goes ahead in clear unless that is allowed")
    func clear() {
        for credentials in [user("a"), Credentials(bearer: "t")] {
            var strict = search({ $0.rules.allowed = [.basic] }, explicit: credentials, home: plainOrigin)
            #expect(strict.began(.at("/", plainOrigin), at: plainOrigin, entries: []) == nil)
        }
        var open = search(
            { policy in
                policy.rules.allowed = .basic
                policy.rules.allowsSecretInClear = true
            }, explicit: user("a"), home: plainOrigin)
        #expect(text(open.began(.at("/", plainOrigin), at: plainOrigin, entries: [])) == "request Basic a ahead")
        let kept = entry(user("a"), origin: plainOrigin)
        var session = search(home: plainOrigin)
        #expect(session.began(.at("/", plainOrigin), at: plainOrigin, entries: [kept]) == nil)
    }

    @Test("credentials of the session go ahead where they belong")
    func session() {
        let entries = [entry(user("root"), realm: "1"), entry(user("deep"), realm: "2", path: "/a/x")]
        var search = search()
        #expect(text(search.began(.at("/a/y"), at: secureOrigin, entries: entries)) == "session Basic deep ahead")
        #expect(text(search.began(.at("/b"), at: secureOrigin, entries: entries)) == "session Basic root ahead")
        #expect(search.began(.at("/a/", plainOrigin), at: plainOrigin, entries: entries) == nil)
    }

    @Test("switched off, or for another scheme, side or origin, they stay")
    func notSession() {
        let kept = entry(user("a"))
        var off = search { $0.sendsAhead = false }
        #expect(off.began(.at("/"), at: secureOrigin, entries: [kept]) == nil)
        var noSession = search { $0.sources.remove(.session) }
        #expect(noSession.began(.at("/"), at: secureOrigin, entries: [kept]) == nil)
        var digest = search { $0.rules.allowed = .digest }
        #expect(digest.began(.at("/"), at: secureOrigin, entries: [kept]) == nil)
        var search = search()
        #expect(search.began(.at("/"), at: secureOrigin, entries: [entry(user("a"), side: .proxy)]) == nil)
        // The target's origin is right, but it is asked of somebody else.
        #expect(search.began(.at("/"), at: plainOrigin, entries: [kept]) == nil)
    }

    @Test("credentials of the request are meant, not others that the session has")
    func own() {
        var other = search(explicit: user("b"))
        #expect(other.began(.at("/"), at: secureOrigin, entries: [entry(user("a"))]) == nil)
        var same = search(explicit: user("a", .none))
        #expect(text(same.began(.at("/"), at: secureOrigin, entries: [entry(user("a"))])) == "session Basic a ahead")
    }

    @Test("a redirect to another origin takes nothing along, and coming back brings nothing back")
    func redirected() throws {
        for origin in [plainOrigin, Origin(scheme: "https", host: "a.example", port: 444)] {
            var search = search({ $0.rules.allowed = .basic }, explicit: user("a"), url: user("b"))
            #expect(search.began(.at("/"), at: secureOrigin, entries: []) != nil)
            #expect(search.began(.at("/", origin), at: origin, entries: []) == nil)
            #expect(search.began(.at("/"), at: secureOrigin, entries: []) == nil)
            let action = search.challenged(by: try ChallengeList(Self.basic)).action
            guard case .ask(.session, _, _) = action else {
                Issue.record("\(action)")
                return
            }
        }
    }

    @Test("refused credentials of the session are forgotten, others are looked for")
    func forgotten() throws {
        var search = search()
        let kept = entry(user("a"))
        _ = search.began(.at("/x"), at: secureOrigin, entries: [kept])
        let step = search.challenged(by: try ChallengeList(Self.basic))
        #expect(step.forgotten?.space == kept.space)
        #expect(step.forgotten?.credentials == kept.credentials)
        guard case .ask(.session, _, failures: 1) = step.action else {
            Issue.record("\(step.action)")
            return
        }
        // Another fetch has put better ones there.
        #expect(sent(search.answered(.use(user("b")))) == "session Basic b")
        #expect(search.challenged(by: try ChallengeList(Self.basic)).forgotten?.credentials == user("b"))
        #expect(search.attempts == 2)
        // And the next hop does not send them ahead either.
        #expect(search.began(.at("/y"), at: secureOrigin, entries: [kept]) == nil)
    }

    @Test("credentials sent ahead to a realm that is not theirs are not refused")
    func otherRealm() throws {
        var search = search()
        _ = search.began(.at("/x"), at: secureOrigin, entries: [entry(user("a"))])
        let step = search.challenged(by: try ChallengeList(#"Basic realm="other""#))
        #expect(step.forgotten == nil)
        #expect(search.attempts == 0)
        _ = search.answered(.none)
        // They may even be right there.
        #expect(sent(search.answered(.use(user("a")))) == "decision Basic a")
        // Sent in answer to a challenge they are refused, whatever the realm is then.
        #expect(search.challenged(by: try ChallengeList(#"Basic realm="third""#)).action != .deliver)
        #expect(search.attempts == 1)
    }

    @Test("a stale nonce is renewed without a question and without an attempt")
    func stale() throws {
        var search = search({ $0.sources = [.explicit] }, explicit: user("a"))
        _ = search.began(.at("/"), at: secureOrigin, entries: [])
        func challenge(_ nonce: String, stale: Bool) throws -> ChallengeList {
            try ChallengeList(#"Digest realm="r", nonce="\#(nonce)", stale=\#(stale)"#)
        }
        #expect(sent(search.challenged(by: try challenge("1", stale: false)).action) == "request Digest a")
        guard
            case .send(let renewed) = search.challenged(by: try challenge("2", stale: true), sentNonce: "1".raw).action
        else {
            Issue.record("not renewed")
            return
        }
        #expect(renewed.digest?.nonce.shown == "2")
        #expect(search.attempts == 0)
        // The nonce that was just sent cannot be too old and new at once.
        #expect(search.challenged(by: try challenge("2", stale: true), sentNonce: "2".raw).action == .giveUp(.refused))
    }

    @Test("nonces that are ever too old are renewed three times")
    func everStale() throws {
        var search = search({ $0.sources = [.explicit] }, explicit: user("a"))
        _ = search.began(.at("/"), at: secureOrigin, entries: [])
        var sends = 0
        var action = search.challenged(by: try ChallengeList("Digest realm=r, nonce=0")).action
        while case .send = action {
            sends += 1
            action =
                search.challenged(
                    by: try ChallengeList("Digest realm=r, nonce=\(sends), stale=true"), sentNonce: "\(sends - 1)".raw
                ).action
        }
        #expect(sends == 4)
        #expect(action == .giveUp(.refused))
    }

    @Test("a nonce sent ahead that a server has forgotten is renewed once, and then the credentials are refused")
    func restarted() throws {
        var search = search { $0.sources = [.session] }
        let kept = entry(user("a"), .digest)
        #expect(text(search.began(.at("/"), at: secureOrigin, entries: [kept])) == "session Digest a ahead")
        let step = search.challenged(by: try ChallengeList("Digest realm=r, nonce=2"), sentNonce: "1".raw)
        #expect(sent(step.action) == "session Digest a")
        #expect(step.forgotten == nil)
        let next = search.challenged(by: try ChallengeList("Digest realm=r, nonce=3"), sentNonce: "2".raw)
        #expect(next.forgotten?.credentials == user("a"))
        #expect(search.attempts == 1)
    }

    @Test(
        "credentials that worked are kept, if they are to be and somebody was there to accept them (ULS-AUTH-01)",
        arguments: [
            (UInt16(200), Credentials.Persistence.session, true, false), (200, .permanent, true, true),
            (200, .none, false, false), (302, .session, true, false), (404, .session, true, false),
            (403, .session, true, false), (401, .session, false, false), (407, .session, false, false),
            (500, .session, false, false), (503, .session, false, false),
        ])
    func kept(status: UInt16, persistence: Credentials.Persistence, isKept: Bool, permanently: Bool) throws {
        var search = search()
        _ = search.began(.at("/a/b"), at: secureOrigin, entries: [])
        _ = search.challenged(by: try ChallengeList(Self.basic))
        _ = search.answered(.none)
        #expect(sent(search.answered(.use(user("a", persistence)))) == "decision Basic a")
        let acceptance = search.accepted(status: status)
        guard case .keep(let entry, let isPermanent) = acceptance else {
            #expect(!isKept)
            // What a failure proves is nothing.
            #expect(acceptance == ([401, 407, 500, 503].contains(status) ? .unjudged : .nothing))
            return
        }
        #expect(isKept)
        #expect(isPermanent == permanently)
        #expect(entry.space.realmText == "r")
        #expect(entry.scope?.paths?.map(\.shown) == ["/a/"])
        #expect(entry.credentials.user == "a")
        // Once.
        #expect(search.accepted(status: status) == .unjudged)
    }

    @Test("what needs no keeping is not kept")
    func notKept() throws {
        var off = search { $0.sources = [.decision] }
        _ = off.began(.at("/"), at: secureOrigin, entries: [])
        _ = off.challenged(by: try ChallengeList(Self.basic))
        _ = off.answered(.use(user("a")))
        #expect(off.accepted(status: 200) == .nothing)

        var ahead = search()
        _ = ahead.began(.at("/"), at: secureOrigin, entries: [entry(user("a"))])
        #expect(ahead.accepted(status: 200) == .nothing)

        var ticket = search(explicit: Credentials(.ticket, persistence: .session))
        _ = ticket.began(.at("/"), at: secureOrigin, entries: [])
        #expect(sent(ticket.challenged(by: try ChallengeList("Negotiate")).action) != nil)
        #expect(ticket.accepted(status: 200) == .nothing)

        var vault = search { $0.sources = [.vault, .session] }
        _ = vault.began(.at("/"), at: secureOrigin, entries: [])
        _ = vault.challenged(by: try ChallengeList(Self.basic))
        _ = vault.answered(.none)
        #expect(sent(vault.answered(.use(user("a", .permanent)))) == "vault Basic a")
        guard case .keep(_, permanently: false) = vault.accepted(status: 200) else {
            Issue.record("kept in the vault it came from")
            return
        }

        // What the session has may have come out of the vault, and somebody may have removed it there.
        var session = search { $0.sources = [.session] }
        _ = session.began(.at("/"), at: secureOrigin, entries: [])
        _ = session.challenged(by: try ChallengeList(Self.basic))
        #expect(sent(session.answered(.use(user("a", .permanent)))) == "session Basic a")
        guard case .keep(_, permanently: false) = session.accepted(status: 200) else {
            Issue.record("kept in the vault out of the session")
            return
        }
    }

    @Test("without the session what is to be kept for good goes into the vault all the same")
    func savedAlone() throws {
        for (persistence, isSaved) in [(Credentials.Persistence.permanent, true), (.session, false), (.none, false)] {
            var search = search({ $0.sources = [.explicit] }, explicit: user("a", persistence))
            _ = search.began(.at("/a/b"), at: secureOrigin, entries: [])
            #expect(sent(search.challenged(by: try ChallengeList(Self.basic)).action) == "request Basic a")
            switch search.accepted(status: 200) {
            case .save(let entry): #expect(isSaved && entry.space.realmText == "r")
            case .nothing: #expect(!isSaved)
            case .unjudged: Issue.record("not judged")
            case .keep: Issue.record("kept in the session")
            }
        }
    }

    @Test("what the session has for that place already is not kept once more")
    func keptBefore() throws {
        let credentials = user("a", .permanent)
        for (explicit, path, isKept) in [
            (user("a"), "/a/b", false), (user("a"), "/c/d", true), (user("b"), "/a/b", true),
            (credentials, "/a/b", true),
        ] {
            var search = search({ $0.rules.allowed = .basic }, explicit: explicit)
            _ = search.began(.at(path), at: secureOrigin, entries: [])
            let space = ProtectionSpace(side: .server, origin: secureOrigin, scheme: .basic, realm: nil)
            let known = SessionEntry(
                space: space, credentials: user("a"), scope: PreemptionScope(space, for: .at("/a/x"), digest: nil),
                named: NamedUser(explicit: explicit, url: nil, user: nil))
            let acceptance = search.accepted(status: 200, kept: [known])
            #expect((acceptance != .nothing) == isKept, "\(path)")
        }
    }

    @Test("Basic that worked ahead of any challenge is kept for a realm nobody knows")
    func keptAhead() throws {
        var search = search({ $0.rules.allowed = .basic }, explicit: user("a"))
        _ = search.began(.at("/a/b"), at: secureOrigin, entries: [])
        guard case .keep(let entry, _) = search.accepted(status: 200) else {
            Issue.record("not kept")
            return
        }
        #expect(entry.space.realm == nil)
        #expect(entry.scope?.paths?.map(\.shown) == ["/a/"])
        // Another fetch sends it ahead; a challenge of any realm refuses it.
        var other = self.search()
        #expect(other.began(.at("/a/c"), at: secureOrigin, entries: [entry]) != nil)
        #expect(other.challenged(by: try ChallengeList(Self.basic)).forgotten?.space == entry.space)
    }
}
