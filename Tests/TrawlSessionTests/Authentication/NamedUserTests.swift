import Testing
import TrawlHTTP

@testable import TrawlSession

@Suite("What is found elsewhere is not somebody else's (ASI-AUTH-09)")
struct NamedUserTests {
    private static let basic = #"Basic realm="r""#
    private static let otherPort = Origin(scheme: "https", host: secureOrigin.host, port: 444)
    private static let otherHost = Origin(scheme: "https", host: "b.example", port: 443)

    private func user(_ name: String, _ password: String = "p") -> Credentials {
        Credentials(user: name, password: password)
    }

    private func search(
        _ side: AuthenticationSide = .server, explicit: Credentials? = nil, url: Credentials? = nil,
        user: String? = nil, entries: [SessionEntry] = [], ahead: (CredentialSearch.Proposal?) -> Void = { _ in }
    ) -> CredentialSearch {
        var policy = SearchPolicy()
        policy.sources = Set(CredentialSource.allCases)
        policy.maxAttempts = 10
        var search = CredentialSearch(
            side: side, policy: policy, home: secureOrigin, explicit: explicit, url: url, user: user)
        ahead(search.began(.at("/"), at: secureOrigin, entries: entries))
        return search
    }

    private func entry(
        _ credentials: Credentials, named: NamedUser? = nil, at origin: Origin = secureOrigin
    ) -> SessionEntry {
        var scheme = AuthenticationScheme.basic
        if case .bearer = credentials.kind { scheme = .bearer }
        let space = ProtectionSpace(side: .server, origin: origin, scheme: scheme, realm: "r".raw)
        return SessionEntry(
            space: space, credentials: credentials, scope: PreemptionScope(space, for: .at("/", origin), digest: nil),
            named: named)
    }

    /// A search whose fetch a redirect has led somewhere, by way of another host.
    private func led(_ start: CredentialSearch, to origin: Origin) -> CredentialSearch {
        var search = start
        for place in [Self.otherHost, origin] { _ = search.began(.at("/", place), at: place, entries: []) }
        return search
    }

    /// Whether what the session has goes ahead there, and whether it would answer a challenge.
    private func isUsed(_ entry: SessionEntry, by start: CredentialSearch) -> (isAhead: Bool, isTaken: Bool) {
        let origin = entry.space.origin
        var search = led(start, to: origin)
        let isAhead = search.began(.at("/", origin), at: origin, entries: [entry]) != nil
        return (isAhead, search.takes(entry))
    }

    private func asked(_ action: CredentialSearch.Action) -> CredentialSource? {
        guard case .ask(let source, _, _) = action else { return nil }
        return source
    }

    private func sent(_ action: CredentialSearch.Action) -> String? {
        guard case .send(let proposal) = action else { return nil }
        return "\(proposal.source) \(proposal.credentials.user ?? "-")"
    }

    /// Whether credentials of a source are sent once all that the request gave was refused.
    private func isSent(_ credentials: Credentials, from source: CredentialSource, _ start: CredentialSearch) throws
        -> Bool
    {
        var search = start
        let challenges = try ChallengeList(Self.basic)
        var action = search.challenged(by: challenges).action
        while true {
            if sent(action) != nil {
                action = search.challenged(by: challenges).action
            } else if let place = asked(action), place != source {
                action = search.answered(.none)
            } else {
                break
            }
        }
        #expect(asked(action) == source)
        return sent(search.answered(.use(credentials))) != nil
    }

    @Test("of the session only the very same, of netrc and vault the same user's, of who is asked anything")
    func sources() throws {
        for start in [search(explicit: user("u", "no")), search(url: user("u", "no"))] {
            for (source, same, other) in [
                (CredentialSource.session, false, false), (.netrc, true, false), (.vault, true, false),
                (.decision, true, true), (.prompt, true, true),
            ] {
                #expect(try isSent(user("u"), from: source, start) == same, "\(source)")
                #expect(try isSent(user("v"), from: source, start) == other, "\(source)")
            }
        }
        // Both that the request gives are meant.
        let both = search(explicit: user("u", "no"), url: user("w", "no"))
        #expect(try isSent(user("w"), from: .vault, both))
        // A token names nobody whom a password could belong to.
        let token = search(explicit: Credentials(bearer: "t"))
        #expect(try !isSent(user("v"), from: .netrc, token))
    }

    @Test("a user alone has a password anywhere, and is nobody else")
    func lonely() throws {
        let start = search(user: "u")
        for source in [CredentialSource.session, .netrc, .vault] {
            #expect(try isSent(user("u"), from: source, start), "\(source)")
            #expect(try !isSent(user("v"), from: source, start), "\(source)")
        }
        var ahead: [String?] = []
        for name in ["u", "v"] {
            _ = search(user: "u", entries: [entry(user(name))]) { ahead.append($0?.credentials.user) }
        }
        #expect(ahead == ["u", nil])
    }

    @Test("a user whose name has an accent written in another way is somebody else")
    func spelling() throws {
        let (one, other) = ("\u{E9}", "e\u{301}")
        let lonely = search(user: one)
        for source in [CredentialSource.session, .netrc, .vault] {
            #expect(try isSent(user(one), from: source, lonely), "\(source)")
            #expect(try !isSent(user(other), from: source, lonely), "\(source)")
        }
        #expect(try !isSent(user(other), from: .vault, search(explicit: user(one, "no"))))
        var ahead: [Bool] = []
        for name in [one, other] { _ = search(user: one, entries: [entry(user(name))]) { ahead.append($0 != nil) } }
        #expect(ahead == [true, false])
        #expect(lonely.named != search(user: other).named && lonely.named == search(user: one).named)
    }

    @Test("a user alone whom nobody knows has an empty password, tried once and last")
    func unknown() throws {
        var search = search(user: "u")
        let challenges = try ChallengeList(Self.basic)
        for isFirst in [true, false] {
            var action = search.challenged(by: challenges).action
            while asked(action) != nil { action = search.answered(.none) }
            if isFirst { #expect(sent(action) == "URL u") } else { #expect(action == .giveUp(.refused)) }
        }
    }

    @Test("a request that names nobody, or not here, takes what there is")
    func nobody() throws {
        #expect(try isSent(user("v"), from: .session, search()))
        let start = search(explicit: user("u"))
        for search in [start, led(start, to: secureOrigin), led(start, to: plainOrigin)] {
            #expect(search.named?.user == "u")
        }
        let left = led(start, to: Self.otherHost)
        #expect(left.named == nil)
        for source in [CredentialSource.session, .netrc, .vault, .decision, .prompt] {
            #expect(try isSent(user("v"), from: source, left), "\(source)")
        }
        let (isAhead, isTaken) = isUsed(entry(user("v"), at: Self.otherHost), by: start)
        #expect(isAhead && isTaken)
    }

    @Test(
        "led back to its host, at whatever port, a request becomes nobody else, and says its own secret no more",
        arguments: [secureOrigin, otherPort])
    func ledBack(place: Origin) throws {
        let (own, token) = (user("u"), Credentials(bearer: "t"))
        for start in [search(explicit: own), search(url: own), search(explicit: token)] {
            for kept in [own, token, user("u", "other"), user("v")] {
                let (isAhead, isTaken) = isUsed(entry(kept, at: place), by: start)
                #expect(!isAhead && !isTaken)
            }
            // What somebody said there for who names the same is for this one too.
            let (isAhead, isTaken) = isUsed(entry(user("v"), named: start.named, at: place), by: start)
            #expect(isAhead && isTaken)
        }
        let start = led(search(explicit: own), to: place)
        for (source, same, alike, other) in [
            (CredentialSource.session, false, false, false), (.netrc, false, true, false), (.vault, true, true, false),
            (.decision, true, true, true), (.prompt, true, true, true),
        ] {
            #expect(try isSent(own, from: source, start) == same, "\(source)")
            #expect(try isSent(user("u", "other"), from: source, start) == alike, "\(source)")
            #expect(try isSent(user("v"), from: source, start) == other, "\(source)")
        }
        // Who gave a name alone has nothing that could come back.
        let lonely = search(user: "u")
        for (name, isHis) in [("u", true), ("v", false)] {
            let (isAhead, isTaken) = isUsed(entry(user(name), at: place), by: lonely)
            #expect(isAhead == isHis && isTaken == isHis)
            for source in [CredentialSource.session, .netrc, .vault] {
                #expect(try isSent(user(name), from: source, led(lonely, to: place)) == isHis, "\(source)")
            }
        }
    }

    @Test("another host takes the secret of a request from whoever knows it for that host, and not by itself")
    func ledElsewhere() throws {
        let start = search(explicit: user("u"))
        let (isAhead, isTaken) = isUsed(entry(user("u"), at: Self.otherHost), by: start)
        #expect(isAhead && isTaken)
        for source in [CredentialSource.session, .netrc, .vault, .decision, .prompt] {
            #expect(try isSent(user("u"), from: source, led(start, to: Self.otherHost)), "\(source)")
        }
        var left = led(start, to: Self.otherHost)
        var action = left.challenged(by: try ChallengeList(Self.basic)).action
        while asked(action) != nil { action = left.answered(.none) }
        #expect(sent(action) == nil)
    }

    @Test("what somebody said at one place is not meant at another, and need not be said at the same place again")
    func said() throws {
        for (name, place, isUsed) in [
            ("v", Self.otherHost, false), ("u", Self.otherHost, false), ("u", secureOrigin, true),
        ] {
            var left = led(search(explicit: user("u")), to: place)
            var action = left.challenged(by: try ChallengeList(Self.basic)).action
            while let source = asked(action), source != .decision { action = left.answered(.none) }
            #expect(sent(left.answered(.use(user(name)))) == "decision \(name)")
            let kept = entry(user(name))
            let isAhead = left.began(.at("/"), at: secureOrigin, entries: [kept]) != nil
            let isTaken = left.takes(kept)
            #expect(isAhead == isUsed && isTaken == isUsed, "\(name) at \(place.text)")
        }
    }

    @Test("a search that begins behind a redirect, or hears of one, has nothing of what the request gave")
    func begunLate() throws {
        let own = user("u")
        var policy = SearchPolicy()
        policy.rules.allowed = .basic
        let late = CredentialSearch(
            side: .server, policy: policy, home: secureOrigin, explicit: own, hasLeftHome: true)
        var told = CredentialSearch(side: .server, policy: policy, home: secureOrigin, explicit: own)
        told.leftHome()
        for start in [late, told] {
            var left = start
            let ahead = left.began(.at("/"), at: secureOrigin, entries: [entry(own), entry(user("v"))])
            #expect(ahead == nil)
            #expect(left.named?.user == "u")
            #expect(asked(left.challenged(by: try ChallengeList(Self.basic)).action) == .session)
        }
    }

    @Test("a proxy is told no other than the one that is named either")
    func proxy() throws {
        var search = search(.proxy, explicit: user("u", "no"))
        var fields = FieldLines()
        try fields.append("Proxy-Authenticate", Self.basic)
        let challenges = ChallengeList(fields, from: .proxy)
        #expect(sent(search.challenged(by: challenges).action) == "request u")
        #expect(asked(search.challenged(by: challenges).action) == .session)
        #expect(asked(search.answered(.use(user("v")))) == .vault)
        #expect(asked(search.answered(.use(user("v")))) == .decision)
        #expect(sent(search.answered(.use(user("v")))) == "decision v")
    }

    @Test("what somebody said on behalf of a user serves all that name the same, and no others")
    func onBehalf() throws {
        var first = search(explicit: user("u", "no"))
        let challenges = try ChallengeList(Self.basic)
        _ = first.challenged(by: challenges)
        var action = first.challenged(by: challenges).action
        while asked(action) != .decision { action = first.answered(.none) }
        #expect(sent(first.answered(.use(user("v")))) == "decision v")
        guard case .keep(let kept, _) = first.accepted(status: 200) else {
            Issue.record("nothing is kept")
            return
        }
        for (password, isTaken) in [("no", true), ("other", false)] {
            var ahead: String?
            var search = search(explicit: user("u", password), entries: [kept]) { ahead = $0?.credentials.user }
            #expect(ahead == (isTaken ? "v" : nil))
            let isUsed = search.takes(kept)
            #expect(isUsed == isTaken)
        }
    }
}
