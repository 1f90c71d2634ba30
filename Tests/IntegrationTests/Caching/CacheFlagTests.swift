import Foundation
import Testing

@Suite("The cache of the command", .timeLimit(.minutes(3)))
struct CacheFlagTests {
    @Test("is used by every run on its directory, as the flags say")
    func flags() async throws {
        let directory = try TemporaryDirectory()
        let store = ["--store", directory.file("store")]
        try await withScene {
            page("v\($0.number)", "max-age=60", to: $0)
        } _: { scene in
            let url = scene.origin.url("/page")
            func get(_ arguments: [String]) throws -> String { try CommandRun(["get"] + arguments + [url]).text }
            for _ in 0..<2 {
                let text = try get(store)
                #expect(text == "v1")
            }
            #expect(try get(store + ["--no-cache"]) == "v2")
            #expect(try get([]) == "v3", "without a home there is no default store")
            #expect(try get(store + ["--cache-policy", "no-store"]) == "v4")
            #expect(try get(store) == "v1")
            #expect(try get(store + ["--cache-policy", "reload"]) == "v5")
            #expect(try get(store + ["--cache-policy", "only-if-cached"]) == "v5")
            #expect(try get(store + ["--cache-policy", "no-cache"]) == "v6")
            #expect(scene.origin.seen().last?.fields["if-none-match"] == "\"v5\"")
            #expect(scene.origin.seen().last?.fields["cache-control"] == "max-age=0")
            scene.origin.stop()
            #expect(try get(store + ["--cache-policy", "force-cache"]) == "v6")
            let file = directory.file("page")
            #expect(try CommandRun(["get"] + store + ["-o", file, url]).status == 0)
            #expect(directory.content("page") == Array("v6".utf8))
        }
    }

    @Test("fills a second run of a list without the server")
    func batch() async throws {
        let directory = try TemporaryDirectory()
        try await withOrigin { origin in
            let urls = (0..<50).map { number in
                origin.url("/bytes/\(number * 1000)?seed=\(number + 1)&field=Cache-Control:%20max-age=600")
            }
            try directory.put("list", Array(urls.map { $0 + "\n" }.joined().utf8))
            for round in 0..<2 {
                let run = try CommandRun([
                    "batch", directory.file("list"), "--store", directory.file("store"), "--out",
                    directory.file("out\(round)"), "--results", directory.file("results\(round)"), "-o", "{line}",
                ])
                #expect(run.status == 0, "\(run.errors)")
                for number in 1..<50 {
                    let bytes = directory.content("out\(round)/\(number + 1)")
                    #expect(bytes == ReferenceBytes.bytes(number * 1000, seed: UInt64(number + 1)), "\(number)")
                }
                if round == 0 { origin.stop() }
            }
        }
    }
}
