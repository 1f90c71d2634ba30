import Foundation
import Testing
import TrawlHTTP
import TrawlProtocol
import TrawlSession

@testable import Trawl

@Suite("Plans of fetches")
struct FetchPlannerTests {
    private let planner: FetchPlanner

    init() {
        var configuration = Configuration()
        configuration.store = .none
        let shelf = CacheShelf(configuration)
        let state = StateShelf(configuration, sessionID: shelf.sessionID)
        planner = FetchPlanner(
            configuration: configuration, shelf: shelf, cookies: CookieSettings(configuration, state: state),
            state: state)
    }

    private func terms(_ adjust: (inout RequestOptions) -> Void) throws -> FetchTerms {
        var options = RequestOptions()
        adjust(&options)
        return try planner.plan(Request("http://a.test/", options: options), into: .memory, wantsEvents: false).terms
    }

    @Test(
        "a download goes on at the URL of its data, with the user of a request for the same origin",
        arguments: [
            ("http://me:p%40w@a.test/x", "me", "p@w"), ("HTTP://me@A.test:80", "me", nil),
            ("http://me:pw@a.test:81/", nil, nil), ("https://me:pw@a.test/", nil, nil),
            ("http://me:pw@b.test/", nil, nil), ("http://a.test/", nil, nil), ("no URL", nil, nil),
        ] as [(String, String?, String?)])
    func resumedURL(url: String, user: String?, password: String?) throws {
        let data = ResumeData(
            url: "http://a.test/big?a=b#c", destination: "/x", partPath: "/.x", offset: 1, length: nil, validator: "v")
        let plan = try planner.plan(
            Request(FetchPlanner.url(of: data, for: Request(url))), into: .memory, wantsEvents: false)
        #expect(plan.target.textWithFragment == data.url)
        #expect(plan.target.user == user && plan.target.password == password)
    }

    @Test("requests that differ in few ways share what follows from their options")
    func alternating() throws {
        func limited(_ limit: Int) throws -> FetchTerms { try terms { $0.redirects.limit = limit } }
        let (one, two) = (try limited(1), try limited(2))
        #expect(one !== two)
        for _ in 0..<3 {
            #expect(try limited(1) === one)
            #expect(try limited(2) === two)
        }
        // Not for ever: what was used once is let go of.
        for limit in 3..<9 { _ = try limited(limit) }
        #expect(try limited(1) !== one)
    }

    @Test("the terms of hops are made once, and let go of with those that they come from")
    func formsOfTerms() throws {
        func hops(_ limit: Int) throws -> [FetchTerms] {
            let first = try terms {
                $0.redirects.limit = limit
                $0.tls.identity = ClientIdentity(file: "/a.pem")
            }
            let here = try planner.target(of: "https://a.test/", first)
            let other = planner.following(first, to: try planner.target(of: "https://b.test/", first), from: here)
            let chosen = planner.identified(other, by: ClientIdentity(file: "/b.pem"))
            #expect(planner.following(chosen, to: here, from: here).options.tls.identity == nil)
            return [first, other, chosen]
        }
        let (once, again) = (try hops(1), try hops(1))
        #expect(zip(once, again).allSatisfy { $0 === $1 })
        #expect(once.map(\.options.tls.identity?.file) == ["/a.pem", nil, "/b.pem"])
        weak let first = try hops(2)[0]
        weak let other = try hops(2)[1]
        #expect(first != nil && other != nil)
        for limit in 3..<9 { _ = try hops(limit) }
        #expect(first == nil && other == nil)
    }

    @Test("a worker makes files beneath an output directory whose paths are made of names, this process all others")
    func outputPaths() throws {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("trawl-plans-\(UUID())").path
        try FileManager.default.createDirectory(atPath: directory + "/a", withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: directory) }
        var configuration = Configuration()
        configuration.store = .none
        configuration.outputDirectories = [directory]
        let shelf = CacheShelf(configuration)
        let state = StateShelf(configuration, sessionID: shelf.sessionID)
        let planner = FetchPlanner(
            configuration: configuration, shelf: shelf, cookies: CookieSettings(configuration, state: state),
            state: state)
        func target(_ path: String) throws -> FetchPlan.Target {
            try planner.plan(Request("http://a.test/"), into: .file(directory + path), wantsEvents: false).sink
        }
        for name in ["x", "a/x", ".x", "..x", "...", "a./x", "a/.../x"] {
            guard case .rooted(_, let relative, _) = try target("/" + name) else {
                Issue.record("\(name) is not left to the worker")
                continue
            }
            #expect(relative == name)
        }
        for path in ["//x", "/./x", "/a//x"] {
            guard case .opened(let destination) = try target(path) else {
                Issue.record("\(path) is left to the worker")
                continue
            }
            destination.discard()
        }
        for path in ["/", "/.", "/..", "/a/", "/a/.", "/a/..", "/a/../x", "/../x"] {
            #expect(throws: FetchError.self) { try target(path) }
        }
    }

    @Test("those with a netrc file share it until the file is another one")
    func netrc() throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("trawl-netrc-\(UUID())").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        func write(_ password: String) throws {
            try Data("machine a.test login me password \(password)\n".utf8).write(to: URL(fileURLWithPath: path))
        }
        func named() throws -> FetchTerms { try terms { $0.authentication.netrc = .file(path) } }
        try write("one")
        let one = try named()
        #expect(try named() === one)
        try write("another")
        let another = try named()
        #expect(another !== one)
        #expect(try named() === another)
        try FileManager.default.removeItem(atPath: path)
        #expect(throws: FetchError.self) { try named() }
    }

    @Test("a request with a longer head than can be sent is refused, whatever makes it so long")
    func longHeads() throws {
        func plan(_ request: Request) throws { _ = try planner.plan(request, into: .memory, wantsEvents: false) }
        let long = String(repeating: "a", count: 1 << 20)
        try plan(Request("http://a.test/", fields: ["X": String(long.dropLast(70_000))]))
        try plan(Request(.post, "http://a.test/", body: .text(long)))
        for request in [
            Request("http://a.test/", fields: ["X": long]),
            Request("http://a.test/" + long.prefix(60_000), fields: ["X": String(long.dropLast(50_000))]),
            Request(
                .post, "http://a.test/", fields: ["X": String(long.dropLast(60_000))],
                body: .text(String(long.prefix(60_000)))),
        ] {
            let failure = #expect(throws: FetchError.self) { try plan(request) }
            #expect(failure?.code == .badRequest && failure?.detail == "the head of the request is longer than 1 MiB")
        }
        let failure = #expect(throws: FetchError.self) {
            try planner.template(of: Request("", fields: ["X": long]), files: Destination.FileOptions())
        }
        #expect(failure?.code == .badRequest)
    }

    @Test(
        "fields of the transfer, and a second Host, are refused by name",
        arguments: [
            (["TE": "trailers"], "the field TE belongs to the transfer"),
            (["upgrade": "x"], "the field Upgrade belongs to the transfer"),
            (["transfer-encoding": "chunked"], "the field Transfer-Encoding belongs to the transfer"),
            (["Content-Length": "1"], "Content-Length is not the length of the body"),
            (["Host": "a.test", "X": "y", "host": "b.test"], "Host is given twice"),
            (["HOST": "a.test", "host": "a.test"], "Host is given twice"),
        ] as [(Fields, String)])
    func refusedFields(fields: Fields, detail: String) {
        let request = Request("http://a.test/", fields: fields)
        let failure = #expect(throws: FetchError.self) {
            try planner.plan(request, into: .memory, wantsEvents: false)
        }
        #expect(failure?.code == .badRequest && failure?.detail == detail)
        let refusal = #expect(throws: FetchError.self) {
            try planner.template(of: request, files: Destination.FileOptions())
        }
        #expect(refusal?.code == .badRequest && refusal?.detail == detail)
    }

    @Test("templates that differ in other things than a long body keep it once")
    func sharedBodies() throws {
        func template(_ body: String, _ id: String, like sibling: RequestTemplate?) throws -> RequestTemplate {
            try planner.template(
                of: Request(.post, "", fields: ["X-Id": id], body: .text(body)), files: Destination.FileOptions(),
                sharingBodyOf: sibling)
        }
        let long = String(repeating: "a", count: WireProtocol.maximumInlineBody + 1)
        let one = try template(long, "1", like: nil)
        let other = try template(long, "2", like: one)
        // Two memory files are two bodies, whatever they hold.
        #expect(other !== one && other.body == one.body && other.body.count == long.utf8.count)
        let apart = try template(long, "3", like: nil)
        #expect(apart.body != one.body)
        let short = try template("b", "4", like: try template("b", "5", like: nil))
        #expect(short.body == .inline(Array("b".utf8)))
    }

    private static let negatives: [(String, @Sendable (inout RequestOptions) -> Void)] = [
        ("timeLimits.connect", { $0.timeLimits.connect = .nanoseconds(-1) }),
        ("timeLimits.inactivity", { $0.timeLimits.inactivity = .seconds(-1) }),
        ("timeLimits.firstByte", { $0.timeLimits.firstByte = .seconds(-1) }),
        ("timeLimits.resource", { $0.timeLimits.resource = .seconds(Int64.min) }),
        ("timeLimits.exchange", { $0.timeLimits.exchange = .seconds(-1) }),
        ("timeLimits.connectivity", { $0.timeLimits.connectivity = .seconds(-1) }),
        ("retry.longestTime", { $0.retry.longestTime = .seconds(-1) }),
        ("retry.delay", { $0.retry.delay = .nanoseconds(-1) }),
        ("retry.longestRetryAfter", { $0.retry.longestRetryAfter = .seconds(-1) }),
        ("retry.count", { $0.retry.count = -1 }),
        ("transport.idleLifetime", { $0.transport.idleLifetime = .seconds(-1) }),
    ]

    @Test("what must not be negative is told", arguments: negatives.indices)
    func negative(index: Int) throws {
        let (name, adjust) = Self.negatives[index]
        let failure = #expect(throws: FetchError.self) { try terms(adjust) }
        #expect(failure?.code == .badRequest && failure?.detail == "\(name) is negative")
    }

    private static let empties: [(String, @Sendable (inout RequestOptions) -> Void)] = [
        ("tls.caFile", { $0.tls.caFile = "" }), ("tls.caDirectory", { $0.tls.caDirectory = "" }),
        ("tls.caData", { $0.tls.caData = [] }), ("tls.pinFile", { $0.tls.pinFile = "" }),
        ("tls.ciphers", { $0.tls.ciphers = "" }), ("tls.ciphers13", { $0.tls.ciphers13 = "" }),
        ("transport.proxyCAFile", { $0.transport.proxyCAFile = "" }),
    ]

    @Test("what says whom to trust and is empty is told, whatever else does", arguments: empties.indices)
    func empty(index: Int) throws {
        let (name, adjust) = Self.empties[index]
        let failure = #expect(throws: FetchError.self) {
            try terms {
                $0.tls.pins = [String(repeating: "A", count: 44)]
                adjust(&$0)
            }
        }
        #expect(failure?.code == .badRequest && failure?.detail == "\(name) is empty")
    }

    @Test("a cache at no path is told, and is not that of the working directory", arguments: ["", "a\0b"])
    func pathlessCache(path: String) {
        let failure = #expect(throws: FetchError.self) { try terms { $0.caching.cache = .at(path) } }
        #expect(failure?.code == .badRequest && failure?.detail == "the directory of the cache has no usable path")
    }

    @Test("zero is no limit of time, no wait and no attempt")
    func zeros() throws {
        let zero = try terms {
            $0.timeLimits.connect = .zero
            $0.timeLimits.inactivity = .zero
            $0.timeLimits.resource = .zero
            $0.retry = .init(0)
            $0.retry.delay = .zero
            $0.transport.idleLifetime = .zero
        }
        #expect(zero.resourceLimit == nil && zero.exchangeLimit == nil)
        #expect(zero.retry == nil && zero.profile.inactivityTimeout == 0)
    }

    @Test("a limit of bandwidth is none when neither direction has one")
    func unlimited() {
        #expect(BandwidthLimit.none.isUnlimited && BandwidthLimit(download: 0, upload: 0).isUnlimited)
        #expect(BandwidthLimit.mobile == BandwidthLimit(14_800))
        #expect(!BandwidthLimit.mobile.isUnlimited && !BandwidthLimit(download: 0, upload: 1).isUnlimited)
        #expect(!BandwidthLimit(download: 1, upload: 0).isUnlimited)
    }

    @Test("a negative burst is told where a limit of bandwidth is configured")
    func bursts() {
        var limit = BandwidthLimit(1000)
        limit.burst = .nanoseconds(-1)
        let adjusts: [(inout Configuration) -> Void] = [
            { $0.bandwidth = limit }, { $0.meteredBandwidth = limit }, { $0.bandwidthPerHost = limit },
        ]
        for adjust in adjusts {
            var configuration = Configuration()
            adjust(&configuration)
            #expect(configuration.problem()?.contains("burst") == true)
        }
        #expect(Configuration().problem() == nil)
    }

    @Test("what was asked for first stays so where its host takes secure transport only (ASI-RUN-05, RFC 6797 §8.3)")
    func secureHost() throws {
        let end = WallTime(seconds: Int64(Date().timeIntervalSince1970) + 600)
        planner.secureHosts.apply(.keep(KnownSecureHost(name: "a.test", expires: end, includesSubdomains: false)))
        let plan = try planner.plan(Request("HTTP://me:pw@a.test:8080/b?c#d"), into: .memory, wantsEvents: false)
        #expect(plan.target.textWithFragment == "https://a.test:8080/b?c#d" && plan.target.user == "me")
        #expect(plan.originalURL == "http://a.test:8080/b?c#d")
    }

    @Test("what need not be verified has to be once its host takes secure transport only, RFC 6797 §8.4")
    func hardened() throws {
        var request = Request("https://a.test/")
        request.options.tls.verification = .none
        request.options.tls.question = .unlessVerified
        let plan = try planner.plan(request, into: .memory, wantsEvents: false)
        #expect(planner.hardened(plan.terms, at: plan.target) === plan.terms)
        let end = WallTime(seconds: Int64(Date().timeIntervalSince1970) + 600)
        planner.secureHosts.apply(.keep(KnownSecureHost(name: "a.test", expires: end, includesSubdomains: false)))
        let hardened = planner.hardened(plan.terms, at: plan.target)
        #expect(hardened.options.tls.verification == .full && hardened.options.tls.question == .never)
        #expect(planner.hardened(hardened, at: plan.target) === hardened)
        let other = try planner.target(of: "https://b.test/", plan.terms)
        #expect(planner.hardened(plan.terms, at: other) === plan.terms)
    }

    @Test("hosts of client certificates that fit none, and paths that are none, are told")
    func identities() throws {
        for (host, file) in [("A.test", "c"), ("bücher.test", "c"), ("a.test", "c\0d")] {
            let failure = #expect(throws: FetchError.self) {
                try terms { $0.tls.identities = [host: ClientIdentity(file: file)] }
            }
            #expect(failure?.code == .badRequest)
        }
        _ = try terms {
            $0.tls.identities = ["a.test:8443": ClientIdentity(file: "c"), "[::1]": ClientIdentity(file: "d")]
        }
    }
}
