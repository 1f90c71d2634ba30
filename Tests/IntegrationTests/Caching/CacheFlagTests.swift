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

    /// Asks a pipe, and says in short what came.
    private func ask(_ pipe: PipeProcess, _ url: String, _ members: String = "") async throws -> String {
        pipe.write(#"{"id":1,"url":"\#(url)"\#(members)}"#)
        let answer = try #require(await pipe.next())
        let text = String(decoding: answer.body ?? [], as: UTF8.self)
        let words = ["from_cache", "validated"].filter { answer.members[$0] as? Bool == true }
        return (["\(answer.status ?? 0)", text] + words).joined(separator: " ")
    }

    private func policy(_ name: String) -> String { #","cache_policy":"\#(name)""# }

    @Test("each request to a pipe has its policy, and is told what came of it")
    func pipe() async throws {
        let directory = try TemporaryDirectory()
        try await withScene { request in
            page(request.number < 3 ? "one" : "two", "max-age=3600", to: request)
        } _: { scene in
            let url = scene.origin.url("/page")
            let pipe = try PipeProcess(["--store", directory.file("store")])
            let own = #","headers":[["Cache-Control","only-if-cached"]]"#
            for (members, expected) in [
                (policy("only-if-cached"), "504 "), (own, "504 "), ("", "200 one"),
                (policy("default"), "200 one from_cache"),
                (own, "200 one from_cache"), (policy("no-cache"), "200 one from_cache validated"),
                (policy("reload"), "200 two"), (policy("no-store"), "200 two"),
            ] {
                let answer = try await ask(pipe, url, members)
                #expect(answer == expected, "\(members)")
            }
            #expect(scene.origin.seen().map { $0.fields["if-none-match"] } == [nil, "\"one\"", nil, nil])
            scene.origin.stop()
            for name in ["force-cache", "only-if-cached"] {
                let answer = try await ask(pipe, url, policy(name))
                #expect(answer == "200 two from_cache", "\(name)")
            }
            #expect(await pipe.finish().isEmpty)
        }
    }

    @Test("a pipe's force-cache and only-if-cached take what is stale without asking, and no-store stores nothing")
    func stale() async throws {
        try await withScene {
            page("v\($0.number)", $0.target == "/stale" ? "max-age=0" : "max-age=3600", to: $0)
        } _: { scene in
            let (stale, other) = (scene.origin.url("/stale"), scene.origin.url("/other"))
            let pipe = try PipeProcess(["--store", scene.store])
            for (url, name, expected, count) in [
                (stale, "default", "200 v1", 1), (stale, "force-cache", "200 v1 from_cache", 1),
                (stale, "only-if-cached", "200 v1 from_cache", 1), (stale, "default", "200 v2", 2),
                (other, "no-store", "200 v1", 3), (other, "only-if-cached", "504 ", 3),
                (other, "force-cache", "200 v2", 4), (other, "only-if-cached", "200 v2 from_cache", 4),
            ] {
                let answer = try await ask(pipe, url, policy(name))
                #expect(answer == expected && scene.count == count, "\(url) \(name)")
            }
            #expect(await pipe.finish().isEmpty)
            #expect(await pipe.exitStatus() == 0)
        }
    }

    @Test("what a pipe answers from the cache has a generated Age, and its Set-Cookie lines as they were stored")
    func reused() async throws {
        let lines = [("Set-Cookie", "a=1; Path=/"), ("X-Between", "x"), ("Set-Cookie", "b=2; Path=/; HttpOnly")]
        try await withScene {
            page("one", to: $0, lines)
        } _: { scene in
            let pipe = try PipeProcess(["--store", scene.store])
            for isReused in [false, true] {
                pipe.write(#"{"id":1,"url":"\#(scene.origin.url("/page"))"}"#)
                let answer = try #require(await pipe.next())
                #expect(answer.members["from_cache"] as? Bool == isReused, "\(answer.text)")
                func values(_ name: String) -> [String] { answer.headers.filter { $0[0] == name }.map { $0[1] } }
                #expect(values("Set-Cookie") == ["a=1; Path=/", "b=2; Path=/; HttpOnly"], "\(answer.text)")
                let ages = values("Age")
                #expect(ages.count == (isReused ? 1 : 0) && ages.allSatisfy { UInt($0) != nil }, "\(answer.text)")
            }
            #expect(scene.count == 1)
            #expect(await pipe.finish().isEmpty)
        }
    }

    @Test("of two pipes on one store each has at once what the other was given: responses and cookies")
    func twoPipes() async throws {
        try await withScene {
            page("one", to: $0, $0.target == "/login" ? [("Set-Cookie", "sid=7; Path=/")] : [])
        } _: { scene in
            let (one, other) = (
                try PipeProcess(["--store", scene.store]), try PipeProcess(["--store", scene.store])
            )
            // Both have it open before there is anything in it for the other.
            #expect(try await ask(one, scene.origin.url("/first")) == "200 one")
            #expect(try await ask(other, scene.origin.url("/second")) == "200 one")
            #expect(try await ask(one, scene.origin.url("/second")) == "200 one from_cache")
            #expect(try await ask(other, scene.origin.url("/first")) == "200 one from_cache")
            #expect(try await ask(one, scene.origin.url("/login")) == "200 one")
            #expect(try await ask(other, scene.origin.url("/after")) == "200 one")
            #expect(scene.origin.seen().map(\.target) == ["/first", "/second", "/login", "/after"])
            #expect(scene.origin.seen().map { $0.fields["cookie"] } == [nil, nil, nil, "sid=7"])
            for pipe in [one, other] {
                #expect(await pipe.finish().isEmpty)
                #expect(await pipe.exitStatus() == 0)
            }
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
