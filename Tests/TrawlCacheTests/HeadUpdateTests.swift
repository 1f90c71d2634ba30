import TestSupport
import Testing
import TrawlHTTP

@testable import TrawlCache

@Suite("What HEAD says of a stored response, RFC 9111 §4.3.5")
struct HeadUpdateTests {
    private let base = [
        ("Date", date(0)), ("Cache-Control", "max-age=60"), ("ETag", "\"v1\""), ("Last-Modified", date(-100)),
        ("Content-Length", "10"),
    ]

    @Test(
        "what the answer to HEAD does, RFC 9111 §4.3.5",
        arguments: [
            (200, [], "freshened"), (200, [("ETag", "\"v1\"")], "freshened"), (200, [("ETag", "\"v2\"")], "remove"),
            (200, [("ETag", "")], "freshened"), (200, [("ETag", ""), ("ETag", "\"v1\"")], "freshened"),
            (200, [("Last-Modified", date(-99))], "remove"), (200, [("Content-Length", "11")], "remove"),
            (200, [("Content-Length", "10"), ("Last-Modified", date(-100))], "freshened"), (404, [], "remove"),
            (410, [], "remove"), (500, [], "keep"), (302, [], "keep"),
        ] as [(UInt16, [(String, String)], String)])
    func answer(status: UInt16, answer: [(String, String)], expected: String) throws {
        let response = try #require(stored(base))
        let update = rules.updatedByHead(
            request(method: .head), stored: response, head(answer, status: status),
            requestTime: after(100), responseTime: after(100))
        let word =
            switch update {
            case .freshened: "freshened"
            case .remove: "remove"
            case .keep: "keep"
            }
        #expect(word == expected)
    }

    @Test(
        "a 304 to the condition of HEAD freshens what that names, and is handed on, RFC 9111 §4.3.4",
        arguments: [
            ([("If-None-Match", "\"v1\"")], [("ETag", "\"v1\"")], true),
            ([("If-None-Match", "W/\"v1\"")], [("ETag", "W/\"v1\"")], true),
            ([("If-None-Match", "\"v1\"")], [], true), ([("If-None-Match", "\"v1\"")], [("ETag", "\"v2\"")], false),
            ([("If-None-Match", "\"v0\", \"v1\"")], [("ETag", "\"v1\"")], true),
            ([("If-None-Match", "\"v0\", \"v1\"")], [("ETag", "\"v0\"")], false),
            ([("If-None-Match", "\"v0\", \"v1\"")], [], false), ([("If-None-Match", "\"v0\"")], [], false),
            ([("If-None-Match", "*")], [], false), ([("If-Modified-Since", date(-50))], [], false), ([], [], false),
            ([("If-None-Match", "\"v1\""), ("Cache-Control", "no-store")], [("ETag", "\"v1\"")], false),
            ([("If-None-Match", "\"v1\""), ("Cookie", "a=1")], [("ETag", "\"v1\"")], false),
        ] as [([(String, String)], [(String, String)], Bool)])
    func condition(condition: [(String, String)], answer: [(String, String)], isFreshened: Bool) throws {
        let response = try #require(stored(base))
        let asked = request(condition, method: .head)
        guard case .send(let sending) = lookUp(asked, response, at: after(100)) else {
            Issue.record("nothing was sent")
            return
        }
        let answer = head(answer + [("Date", date(100)), ("Cache-Control", "max-age=500")], status: 304)
        let conclusion = rules.conclude(
            asked, sending, stored: response, answer, requestTime: after(100), responseTime: after(100))
        #expect(conclusion == .replace && !rules.isObsolete(sending, after: 304))
        let update = rules.updatedByHead(
            asked, stored: response, answer, requestTime: after(100), responseTime: after(100))
        guard case .freshened(let fresh) = update else {
            #expect(update == .keep && !isFreshened)
            return
        }
        #expect(isFreshened && fresh.facts.isFresh(at: after(599)) && !fresh.facts.isFresh(at: after(601)))
        #expect(fresh.head.status == 200 && fresh.facts.body == response.facts.body)
    }

    @Test(
        "what is stored is looked for by HEAD also where it may not answer, unless nothing may change it",
        arguments: [
            (.head, [.doNotRead], [], true), (.get, [.doNotRead], [], false), (.put, [.doNotRead], [], false),
            (.head, [.doNotRead, .doNotWrite], [], false),
            (.head, [.doNotRead], [("Cache-Control", "no-store")], false),
            (.head, [.doNotRead], [("If-Match", "\"v1\"")], false),
            (.head, [.doNotRead], [("Host", "b.example")], false),
            (.head, [.doNotWrite], [], true), (.head, [], [], true), (.get, [], [], true),
        ] as [(Method, CachePolicy.Options, [(String, String)], Bool)])
    func reload(method: Method, options: CachePolicy.Options, lines: [(String, String)], isSought: Bool) throws {
        let asked = request(lines, method: method, policy: CachePolicy(options))
        #expect(asked.concernsStored == isSought)
        let response = try #require(stored(base))
        let isChosen = response.encoded().withUnsafeBytes { bytes in
            (try? StoredView(bytes)).map { rules.prefers($0, over: nil, for: asked) } ?? false
        }
        #expect(isChosen == isSought)
        guard options.contains(.doNotRead) else { return }
        // Whatever is found does not answer, and not for a failure either.
        guard case .send(let sending) = lookUp(asked, response, at: noon) else {
            Issue.record("nothing was sent")
            return
        }
        #expect(sending.purpose == .forward(.policy) && sending.fields.isEmpty && !sending.mayFallBack)
        #expect(rules.fallback(asked, response, after: .unreachable, at: noon) == nil)
    }
}
