import Testing
import TrawlHTTP

@testable import TrawlCache

@Suite("Policies on top of the rules, ASI-CACHE-03, 11")
struct CachePolicyTests {
    /// The decisions for nothing stored, a fresh and a stale response.
    private func outcomes(_ policy: CachePolicy, control: String = "max-age=60") throws -> [String] {
        let response = try #require(stored([("Cache-Control", control), ("ETag", "\"v1\"")]))
        let asked = request(policy: policy)
        return [
            word(lookUp(asked, nil, at: noon)), word(lookUp(asked, response, at: after(30))),
            word(lookUp(asked, response, at: after(100))),
        ]
    }

    @Test(
        "options one by one",
        arguments: [
            ([], ["forward nothingStored", "cache", "validate"]),
            ([.askServerIfModifiedWhenStale], ["forward nothingStored", "cache", "validate"]),
            ([.askServerIfModified], ["forward nothingStored", "validate", "validate"]),
            // They exclude each other: the one that asks always wins.
            (
                [.askServerIfModified, .askServerIfModifiedWhenStale],
                ["forward nothingStored", "validate", "validate"]
            ),
            ([.onlyLoadIfNotCached], ["forward nothingStored", "cache", "stale"]),
            ([.doNotLoad], ["unsatisfiable", "cache", "stale"]),
            ([.doNotRead], ["forward policy", "forward policy", "forward policy"]),
            ([.doNotWrite], ["forward nothingStored", "cache", "validate"]),
            ([.fallbackToCacheIfLoadFails], ["forward nothingStored", "cache", "validate"]),
            ([.doNotRead, .doNotLoad], ["unsatisfiable", "unsatisfiable", "unsatisfiable"]),
            ([.askServerIfModified, .doNotLoad], ["unsatisfiable", "cache", "stale"]),
            ([.askServerIfModified, .onlyLoadIfNotCached], ["forward nothingStored", "cache", "stale"]),
            ([.askServerIfModified, .fallbackToCacheIfLoadFails], ["forward nothingStored", "validate", "validate"]),
        ] as [(CachePolicy.Options, [String])])
    func single(options: CachePolicy.Options, expected: [String]) throws {
        #expect(try outcomes(CachePolicy(options)) == expected)
    }

    @Test("the values are those programs have stored")
    func values() {
        let all: [CachePolicy.Options] = [
            .doNotRead, .doNotWrite, .askServerIfModifiedWhenStale, .askServerIfModified, .onlyLoadIfNotCached,
            .doNotLoad,
            .fallbackToCacheIfLoadFails,
        ]
        #expect(all.map(\.rawValue) == [1, 2, 4, 8, 16, 32, 64])
    }

    @Test("of every pair, only asking always and asking when stale exclude each other")
    func pairs() {
        for first in 0..<7 {
            for second in 0..<7 {
                let options = CachePolicy.Options(rawValue: 1 << UInt8(first) | 1 << UInt8(second))
                let isContradiction = options == [.askServerIfModified, .askServerIfModifiedWhenStale]
                #expect(options.isValid == !isContradiction)
                #expect(options.settled == (isContradiction ? .askServerIfModified : options))
            }
        }
    }

    @Test("a policy that says nothing else asks when stale")
    func defaults() {
        #expect(CachePolicy().resolved() == .useProtocolCachePolicy)
        #expect(CachePolicy([.doNotLoad]).resolved().options == .doNotLoad)
        #expect(CachePolicy([.doNotWrite]).resolved().options == [.doNotWrite, .askServerIfModifiedWhenStale])
    }

    /// As modes of the Fetch standard combine them.
    @Test(
        "what caches on the way are told, and what is stored",
        arguments: [
            (
                [.doNotRead, .doNotWrite], .endToEnd, ["forward policy", "forward policy", "forward policy"],
                "no-cache"
            ),
            ([.doNotRead], .endToEnd, ["forward policy", "forward policy", "forward policy"], "no-cache"),
            ([.askServerIfModified], .validate, ["forward nothingStored", "validate", "validate"], "max-age=0"),
            ([.onlyLoadIfNotCached], .none, ["forward nothingStored", "cache", "stale"], nil),
        ] as [(CachePolicy.Options, CachePolicy.Reload, [String], String?)])
    func onTheWay(
        options: CachePolicy.Options, reload: CachePolicy.Reload, expected: [String], control: String?
    ) throws {
        let policy = CachePolicy(options, reload: reload)
        #expect(try outcomes(policy) == expected)
        guard case .send(let sending) = lookUp(request(policy: policy), nil, at: noon) else {
            Issue.record("nothing is sent")
            return
        }
        #expect(sending.fields.first("Cache-Control") == control)
        let isStored = stored([("Cache-Control", "max-age=60")], for: request(policy: policy)) != nil
        #expect(isStored == !options.contains(.doNotWrite))
    }

    @Test(
        "what the caller says in Cache-Control and Pragma is not overridden, each for itself",
        arguments: [
            ([("Cache-Control", "x")], [nil, "no-cache"]), ([("Pragma", "x")], ["no-cache", nil]),
            ([("Cache-Control", "x"), ("Pragma", "y")], [nil, nil]), ([], ["no-cache", "no-cache"]),
        ] as [([(String, String)], [String?])])
    func ownControl(own: [(String, String)], added: [String?]) throws {
        let policy = CachePolicy([.doNotRead], reload: .endToEnd)
        let asked = request(own, policy: policy)
        guard case .send(let sending) = lookUp(asked, nil, at: noon) else {
            Issue.record("nothing is sent")
            return
        }
        #expect([sending.fields.first("Cache-Control"), sending.fields.first("Pragma")] == added)
        #expect(sending.fields.count == added.count { $0 != nil })
        var alone = asked.fields
        policy.reload.tellByItself(in: &alone)
        #expect(rules.fieldsToSend(asked, sending) == alone)
    }

    @Test("any age is used even of what should be validated, when the policy says so")
    func anyAge() throws {
        #expect(try outcomes(CachePolicy([.onlyLoadIfNotCached]), control: "no-cache")[2] == "stale")
    }

    @Test("cache control not respected: all is stored and all is fresh")
    func notRespected() throws {
        var policy = CachePolicy()
        policy.respectsCacheControl = false
        let response = try #require(stored([("Cache-Control", "no-store")], status: 404, for: request(policy: policy)))
        #expect(word(lookUp(request(policy: policy), response, at: after(100_000))) == "cache")
        #expect(word(lookUp(request([("Cache-Control", "no-cache")], policy: policy), response, at: noon)) == "cache")
        policy.options = [.askServerIfModified]
        #expect(word(lookUp(request(policy: policy), response, at: noon)) == "forward stale")
    }

    @Test("guesses can be switched off, also for what is stored already")
    func noHeuristics() throws {
        var policy = CachePolicy()
        policy.usesHeuristics = false
        let response = try #require(stored([("Date", date(0)), ("Last-Modified", date(-10_000))]))
        #expect(word(lookUp(request(), response, at: after(10))) == "cache")
        #expect(word(lookUp(request(policy: policy), response, at: after(10))) == "validate")
    }

    @Test(
        "a lifetime given by the request wins over the response's",
        arguments: [
            (100, "max-age=1", 50, "cache"), (100, "max-age=1000", 150, "validate"), (-1, "max-age=60", 0, "validate"),
            (0, "max-age=60", 0, "validate"), (100, "no-cache", 50, "validate"),
        ] as [(Int64, String, Int64, String)])
    func override(seconds: Int64, control: String, at: Int64, expected: String) throws {
        var policy = CachePolicy()
        policy.secondsToCache = seconds
        let lines = [("Date", date(-5000)), ("Age", "999"), ("Cache-Control", control), ("ETag", "\"v1\"")]
        let response = try #require(stored(lines, for: request(policy: policy)))
        #expect(word(lookUp(request(), response, at: after(at))) == expected)
    }

    // MARK: When the origin fails

    private func fallback(
        _ policy: CachePolicy, _ control: String, _ failure: OriginFailure = .unreachable, at seconds: Int64 = 100,
        lines: [(String, String)] = []
    ) throws -> ResultSource? {
        let response = try #require(stored([("Cache-Control", control)]))
        return rules.fallback(request(lines, policy: policy), response, after: failure, at: after(seconds))?.source
    }

    @Test("the fallback on failure, which is told from an answer that nobody was asked for")
    func fallback() throws {
        let policy = CachePolicy([.fallbackToCacheIfLoadFails])
        #expect(try fallback(policy, "max-age=60") == .stale)
        #expect(try fallback(policy, "max-age=60", at: 10) == .stale)
        #expect(try fallback(CachePolicy(), "max-age=60") == nil)
        #expect(try fallback(policy, "max-age=60", .status(503)) == nil)
        #expect(try fallback(policy, "max-age=60, must-revalidate") == nil)
        #expect(try fallback(policy, "max-age=60, no-cache") == nil)
        var forced = policy
        forced.forcesFallback = true
        #expect(try fallback(forced, "max-age=60, must-revalidate") == .stale)
        #expect(try fallback(CachePolicy([.doNotRead, .fallbackToCacheIfLoadFails]), "max-age=60") == nil)
    }

    @Test("stale-if-error, RFC 5861 §4")
    func staleIfError() throws {
        let control = "max-age=60, stale-if-error=60"
        #expect(try fallback(CachePolicy(), control) == .stale)
        #expect(try fallback(CachePolicy(), control, .status(500)) == .stale)
        #expect(try fallback(CachePolicy(), control, .status(503)) == .stale)
        #expect(try fallback(CachePolicy(), control, at: 120) == nil)
        #expect(try fallback(CachePolicy(), control + ", must-revalidate") == nil)
        let asked = [("Cache-Control", "stale-if-error=60")]
        #expect(try fallback(CachePolicy(), "max-age=60", .status(504), lines: asked) == .stale)
        #expect(try fallback(CachePolicy(), "max-age=60", .status(504)) == nil)
        #expect(try fallback(CachePolicy(), "max-age=60", .status(504), at: 10) == nil)
    }

    @Test("a request that is not a plain GET or HEAD gets no stored response in place of an error")
    func fallbackMethods() throws {
        let response = try #require(stored([("Cache-Control", "max-age=60, stale-if-error=600")]))
        let asked = request(method: .post, hasBody: true)
        #expect(rules.fallback(asked, response, after: .status(503), at: after(100)) == nil)
    }
}
