import Foundation
import Glibc
import TestSupport
import Testing

/// The public cases of `Tests/Vectors/http-cache`, played by `Tests/Conformance/http_cache.py`.
@Suite("The public cache tests, ASI-CACHE-02, 17, 27, ULS-CACHE-02", .timeLimit(.minutes(10)))
struct HTTPCacheConformanceTests {
    private static let python: String? = ["/usr/bin/python3", "/usr/local/bin/python3"].first { access($0, X_OK) == 0 }
    private static let tests = Checkout.path("Tests")

    private struct Vectors: Decodable {
        struct Suite: Decodable { let tests: [Case] }
        struct Case: Decodable {
            let id: String
            let kind: String
        }
        let suites: [Suite]
    }

    @Test(
        "all required cases pass, and nearly all of what a good cache does besides",
        .enabled(if: python != nil, "python3 is not installed"))
    func cases() async throws {
        let vectors = try JSONDecoder().decode(
            Vectors.self,
            from: Data(contentsOf: URL(fileURLWithPath: Self.tests + "/Vectors/http-cache/http-cache.json")))
        let directory = try TemporaryDirectory()
        let program = try ChildProcess(
            "/bin/sh",
            [
                "-c", "exec \"$0\" -B \"$1\" --trawl \"$2\" --store \"$3\" --json >\"$4\"", try #require(Self.python),
                Self.tests + "/Conformance/http_cache.py", try BuiltProducts.trawl(), directory.file("store"),
                directory.file("outcomes"),
            ], errors: directory.file("errors"))
        #expect(await eventually(within: .seconds(540)) { !program.isRunning })
        program.end()
        let errors = String(decoding: directory.content("errors") ?? [], as: UTF8.self)
        let outcomes = try JSONDecoder().decode(
            [String: [String]].self, from: Data(directory.content("outcomes") ?? []))
        func notPassed(_ kind: String) -> [String] {
            vectors.suites.flatMap(\.tests).filter { $0.kind == kind && outcomes[$0.id]?.first != "pass" }
                .map { "\($0.id): \(outcomes[$0.id]?.last ?? "not run")" }
        }
        func count(_ kind: String) -> Int { vectors.suites.flatMap(\.tests).count { $0.kind == kind } }
        #expect(count("required") == 77)
        #expect(notPassed("required").isEmpty, "\(notPassed("required")) \(errors)")
        #expect(count("optimal") == 47)
        #expect(notPassed("optimal").isEmpty, "\(notPassed("optimal"))")
        #expect(errors.isEmpty, "\(errors)")
    }
}
