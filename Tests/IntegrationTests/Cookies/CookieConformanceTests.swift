import Foundation
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

    /// One byte for each character.
    private static func bytes(_ text: String) -> [UInt8] {
        text.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) }
    }

    private static func latin1(_ bytes: ArraySlice<UInt8>) -> String {
        String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
    }

    @Test("all cases pass", arguments: Engine.allCases)
    func cases(engine: Engine) async throws {
        let file = URL(fileURLWithPath: #filePath).appending(path: "../../../Vectors/cookies/cookies.json")
        let cases = try JSONDecoder().decode([Case].self, from: Data(contentsOf: file.standardizedFileURL))
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
}
