import Foundation
import TestSupport
import Testing
import Trawl

/// The cases of `Tests/Vectors/cookies`, through real workers: an origin sends the lines and sees what comes back.
@Suite("The public cookie tests, ASI-COOK-07", .timeLimit(.minutes(5)))
struct CookieConformanceTests {
    private struct Case: Decodable {
        var id: String
        var set_url: String
        var set_cookie: [String]
        var then_url: String
        var cookie: String?
        var or: [String?]?
    }

    private struct DateCase: Decodable {
        var id: String
        var text: String
        /// Nil where the text is no date.
        var date: String?
    }

    private static func vectors<Vector: Decodable>(_ name: String) throws -> [Vector] {
        let file = URL(fileURLWithPath: Checkout.path("Tests/Vectors/cookies/\(name)"))
        return try JSONDecoder().decode([Vector].self, from: Data(contentsOf: file))
    }

    /// One byte for each character.
    private static func bytes(_ text: String) -> [UInt8] {
        text.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) }
    }

    private static func latin1(_ bytes: ArraySlice<UInt8>) -> String {
        String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
    }

    @Test("all cases pass", arguments: Engine.allCases)
    func cases(engine: Engine) async throws {
        let cases: [Case] = try Self.vectors("cookies.json")
        #expect(cases.count == 252)
        let lines = Locked<[[UInt8]]>([])
        let sent = Locked<String?>(nil)
        try await withScene { request in
            let mark = Array("\r\ncookie: ".utf8)
            let lower = request.head.map { 65...90 ~= $0 ? $0 | 32 : $0 }
            sent.withLock { sent in
                sent = lower.firstRange(of: mark).map { found in
                    Self.latin1(request.head[found.upperBound...].prefix { $0 != 13 })
                }
            }
            var answer = ScriptedOrigin.Answer(200, "ok")
            answer.lines = lines.withLock { $0 }
            return answer
        } _: { scene in
            let port = scene.origin.url("").split(separator: ":").last ?? ""
            try await scene.withCoordinator(engine, workers: 1) { coordinator in
                var failures: [String] = []
                for test in cases {
                    func get(_ url: String) async throws {
                        let host = url.split(separator: "/")[1]
                        _ = try await coordinator.get(url) {
                            $0.cookies.jar = .named(test.id)
                            $0.transport.connectTo = ["\(host):80:127.0.0.1:\(port)"]
                        }
                    }
                    lines.withLock { lines in
                        lines = test.set_cookie.map { Array("Set-Cookie: ".utf8) + Self.bytes($0) }
                    }
                    // A byte that no field may hold fails the transfer, and nothing is stored.
                    do { try await get(test.set_url) } catch let error as FetchError {
                        #expect(error.code == .protocolViolation, "\(test.id): \(error)")
                    }
                    lines.withLock { $0 = [] }
                    try await get(test.then_url)
                    let found = sent.withLock { $0 }
                    if !([test.cookie] + (test.or ?? [])).contains(found) {
                        failures.append("\(test.id): \(found ?? "none")")
                    }
                }
                #expect(failures.isEmpty, "\(failures)")
            }
        }
    }

    @Test("a date that is over removes a cookie, what is no date leaves it to the session", arguments: Engine.allCases)
    func dates(engine: Engine) async throws {
        let cases: [DateCase] = try Self.vectors("cookie-dates.json")
        #expect(cases.count == 38)
        let line = Locked<[UInt8]>([])
        try await withScene { _ in
            var answer = ScriptedOrigin.Answer(200, "ok")
            answer.lines = line.withLock { $0.isEmpty ? [] : [$0] }
            return answer
        } _: { scene in
            try await scene.withCoordinator(engine, workers: 1) { coordinator in
                for (number, test) in cases.enumerated() {
                    let jar = RequestOptions.Cookies.Jar.named(test.id)
                    func get(_ name: String, setting cookie: String?) async throws -> String? {
                        line.withLock { $0 = cookie.map { Array("Set-Cookie: ".utf8) + Self.bytes($0) } ?? [] }
                        let target = "/\(name)/\(number)"
                        _ = try await coordinator.get(scene.origin.url(target)) { $0.cookies.jar = jar }
                        return scene.origin.seen(target).first?.fields["cookie"]
                    }
                    _ = try await get("before", setting: "d=0; Path=/")
                    #expect(try await get("dated", setting: "d=1; Path=/; Expires=\(test.text)") == "d=0", "\(test.id)")
                    let isDate = test.date != nil
                    #expect(try await get("after", setting: nil) == (isDate ? nil : "d=1"), "\(test.id)")
                    // One that lasts would have a time; all dates of the cases are over.
                    let kept = try coordinator.cookies(in: jar).cookies()
                    #expect(kept.map(\.expires) == (isDate ? [] : [nil]), "\(test.id)")
                }
            }
        }
    }
}
