import Testing
import TrawlHTTP
import TrawlProtocol

@testable import Trawl

@Suite("The engine's tables")
struct TableTests {
    private func terms(_ adjust: (inout RequestOptions) -> Void) -> FetchTerms {
        var configuration = Configuration()
        configuration.store = .none
        let shelf = CacheShelf(configuration)
        let state = StateShelf(configuration, sessionID: shelf.sessionID)
        let cookies = CookieSettings(configuration, state: state)
        var options = RequestOptions()
        adjust(&options)
        return FetchTerms(options, shelf, cookies, AuthenticationTerms.Askable(configuration))
    }

    @Test("a transfer profile keeps its number as long as 256 are in use")
    func profiles() {
        var table = ProfileTable()
        func terms(_ seconds: Int) -> FetchTerms { self.terms { $0.timeLimits.inactivity = .seconds(seconds) } }
        let first = table.assignment(for: terms(0))
        #expect(table.assignment(for: terms(0)) == first)
        for number in 1..<256 { #expect(table.assignment(for: terms(number)).number == number) }
        #expect(table.assignment(for: terms(0)) == first)
        let reused = table.assignment(for: terms(1000))
        #expect(reused.number == first.number && reused.version != first.version)
        let back = table.assignment(for: terms(0))
        #expect(back != first)
    }

    @Test("profiles whose texts are one to Unicode are two, and so are the ways of proxies' users")
    func equivalents() {
        let (one, other) = (terms { $0.tls.caFile = "/e\u{301}" }, terms { $0.tls.caFile = "/\u{E9}" })
        let again = terms { $0.tls.caFile = "/e\u{301}" }
        var table = ProfileTable()
        let assignment = table.assignment(for: one)
        #expect(table.assignment(for: other) != assignment)
        #expect(table.assignment(for: again) == assignment)
        #expect(one.isAlike(again) && !one.isAlike(other))
        func proxied(_ user: String) -> FetchTerms {
            terms { options in
                options.proxy = ProxyPolicy()
                options.proxy?.setUser(user, password: "")
            }
        }
        #expect(proxied("e\u{301}").isAlike(proxied("e\u{301}")))
        #expect(!proxied("e\u{301}").isAlike(proxied("\u{E9}")))
    }

    @Test("no key of a fetch that is over names another, also after the table was emptied")
    func fetchKeys() throws {
        var configuration = Configuration()
        configuration.store = .none
        let shelf = CacheShelf(configuration)
        let state = StateShelf(configuration, sessionID: shelf.sessionID)
        let planner = FetchPlanner(
            configuration: configuration, shelf: shelf, cookies: CookieSettings(configuration, state: state),
            state: state)
        let plan = try planner.plan(Request("http://a.test/"), into: .discard, wantsEvents: false)
        let fetch = RunningFetch(plan: plan, reply: .nobody(FetchCourse(FetchCourse.Beginning(plan), nil)))
        var table = FetchTable()
        // More than it keeps room for.
        let keys = (0..<65_537).map { _ in table.insert(fetch) }
        table.remove(keys[0])
        let second = table.insert(fetch)
        #expect(second.place == keys[0].place && table[keys[0]] == nil && table[second] === fetch)
        for key in keys.dropFirst() + [second] { table.remove(key) }
        #expect(table.count == 0)
        let latest = (0..<3).map { _ in table.insert(fetch) }
        #expect(latest.allSatisfy { table[$0] === fetch })
        #expect((keys + [second]).allSatisfy { table[$0] == nil })
    }

    @Test("options reach the worker's profile one by one (ASI-RSP-02)")
    func profileOfOptions() {
        var options = RequestOptions()
        #expect(options.profile == TransferProfile() && options.profile.bodyBytes == .max)
        options.sizeLimits.bodyBytes = 0
        #expect(options.profile.bodyBytes == 0)
        options.transport.version = .http1_0
        options.timeLimits.connect = .milliseconds(1)
        options.timeLimits.inactivity = .zero
        options.timeLimits.firstByte = .milliseconds(3)
        options.sizeLimits.bodyBytes = 7
        options.sizeLimits.headBytes = 1 << 30
        options.tls.verification = .none
        options.tls.minimum = .tls1_3
        options.contentDecoding = .onRead
        options.transport.resolve = ["a:80:127.0.0.1"]
        options.transport.receiveBuffer = 4096
        let profile = options.profile
        #expect(profile.version == .http1_0)
        #expect(profile.connectTimeout == 1)
        #expect(profile.inactivityTimeout == 0)
        #expect(profile.firstByteTimeout == 3)
        #expect(profile.bodyBytes == 7)
        #expect(profile.headBytes == UInt32(WireProtocol.maximumHead))
        #expect(!profile.tls.verifiesPeer && !profile.tls.verifiesHost)
        #expect(profile.tls.minimum == .tls1_3)
        #expect(profile.decoding == .off)
        #expect(profile.resolve == ["a:80:127.0.0.1"])
        #expect(profile.receiveBuffer == 4096)
        // As little as can be, and not as much as the worker likes.
        options.transport.receiveBuffer = -1
        #expect(options.profile.receiveBuffer == 1)
    }
}
