import Foundation
import Testing

@Suite("The cache of the command", .timeLimit(.minutes(3)))
struct CacheFlagTests {
    @Test("is used by every run on its directory, as the flags say")
    func flags() async throws {
        let directory = try TemporaryDirectory()
        let store = ["--store", directory.file("store")]
        try await withScene {
            page("v\($0.number)", "max-age=3600", to: $0)
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

    @Test("a lifetime and a budget that are given to a run hold")
    func lifetimeAndBudget() async throws {
        let directory = try TemporaryDirectory()
        let store = ["--store", directory.file("store")]
        try await withScene {
            // It says nothing of how long it is good.
            ScriptedOrigin.Answer(200, "v\($0.number)")
        } _: { scene in
            func get(_ arguments: [String]) throws -> String {
                try CommandRun(["get"] + store + arguments + [scene.origin.url("/page")]).text
            }
            for options in [["--cache-ttl", "3600"], []] {
                let text = try get(options)
                #expect(text == "v1")
            }
        }
        try await withOrigin { origin in
            let urls = (1...30).map { origin.url("/bytes/50000?seed=\($0)&field=Cache-Control:%20max-age=600") }
            try directory.put("list", Array(urls.map { $0 + "\n" }.joined().utf8))
            let batch = ["batch", directory.file("list"), "--no-files", "--cache-size", "500k"] + store
            #expect(try CommandRun(batch).status == 0)
        }
        let stats = try CommandRun(["cache", "stats", "--json"] + store)
        let numbers = try #require(JSONSerialization.jsonObject(with: Data(stats.output)) as? [String: Any])
        let bytes = try #require(numbers["bytes"] as? Int)
        #expect((100_000...512_000).contains(bytes), "\(stats.text)")
    }

    @Test("each request to a pipe has its policy, and is told what came of it")
    func pipe() async throws {
        let directory = try TemporaryDirectory()
        try await withScene { request in
            page(request.number < 3 ? "one" : "two", "max-age=3600", to: request)
        } _: { scene in
            let url = scene.origin.url("/page")
            let pipe = try PipeProcess(["--store", directory.file("store")])
            func ask(_ members: String) async throws -> String {
                pipe.write(#"{"id":1,"url":"\#(url)"\#(members)}"#)
                let answer = try #require(await pipe.next())
                let text = String(decoding: answer.body ?? [], as: UTF8.self)
                let words = ["from_cache", "validated"].filter { answer.members[$0] as? Bool == true }
                return (["\(answer.status ?? 0)", text] + words).joined(separator: " ")
            }
            func policy(_ name: String) -> String { #","cache_policy":"\#(name)""# }
            let own = #","headers":[["Cache-Control","only-if-cached"]]"#
            for (members, expected) in [
                (policy("only-if-cached"), "504 "), (own, "504 "), ("", "200 one"),
                (policy("default"), "200 one from_cache"),
                (own, "200 one from_cache"), (policy("no-cache"), "200 one from_cache validated"),
                (policy("reload"), "200 two"), (policy("no-store"), "200 two"),
            ] {
                let answer = try await ask(members)
                #expect(answer == expected, "\(members)")
            }
            #expect(scene.origin.seen().map { $0.fields["if-none-match"] } == [nil, "\"one\"", nil, nil])
            scene.origin.stop()
            for name in ["force-cache", "only-if-cached"] {
                let answer = try await ask(policy(name))
                #expect(answer == "200 two from_cache", "\(name)")
            }
            #expect(await pipe.finish().isEmpty)
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
