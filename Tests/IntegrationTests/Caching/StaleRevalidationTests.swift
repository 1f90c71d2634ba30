import Foundation
import Testing

@Suite("What is served stale while it is validated", .serialized, .timeLimit(.minutes(5)))
struct StaleRevalidationTests {
    @Test("however much is served stale at once, all of it is validated, once", arguments: [200, 1300])
    func many(count: Int) throws {
        let directory = try TemporaryDirectory()
        let origin = try ScriptedOrigin { request in
            let control = request.number == 1 ? "max-age=0, stale-while-revalidate=600" : "max-age=600"
            return page(request.number == 1 ? "one" : "two", control, to: request)
        }
        defer { origin.stop() }
        let lines = (0..<count).map { origin.url("/page/\($0)") + "\n" }
        try directory.put("list", Array(lines.joined().utf8))
        func batch() throws -> CommandRun {
            try CommandRun([
                "batch", directory.file("list"), "--no-files", "--store", directory.file("store"), "--per-host", "32",
            ])
        }
        let first = try batch()
        #expect(first.errors.contains("\(count) fetched") && origin.seen().count == count, "\(first.errors)")
        let second = try batch()
        #expect(second.status == 0 && second.errors.contains(" stale"), "\(second.errors)")
        #expect(origin.seen().count == 2 * count)
        let third = try batch()
        #expect(third.errors.contains("; cache: \(count) hits"), "\(third.errors)")
        #expect(origin.seen().count == 2 * count)
    }
}
