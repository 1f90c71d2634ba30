import Foundation
import TestSupport
import Testing

/// How much memory the bodies of a pipe take.
@Suite("trawl pipe, its memory", .serialized, .timeLimit(.minutes(3)))
struct PipeMemoryTests {
    /// A pipe with little memory for bodies.
    private func started(_ arguments: [String] = ["--no-cache"]) throws -> PipeProcess {
        try PipeProcess(["-j", "16", "--max-memory", "1M"] + arguments)
    }

    /// Waits until nothing moves any more, as nobody reads, and says how much there was at most.
    private func peak(of pipe: PipeProcess, _ origin: LoopbackOriginProcess, atLeast least: Int) async -> Int {
        var most = 0
        var before = (-1, -1, -1)
        var still = 0
        _ = await eventually {
            let held = ProcessTree.bodies(of: pipe.pid)
            most = max(most, held)
            let now = (held, (try? origin.concurrency().total) ?? 0, (try? origin.concurrency().now) ?? 0)
            still = now == before && held >= least ? still + 1 : 0
            before = now
            return still >= 20
        }
        return most
    }

    private func readAll(_ pipe: PipeProcess, length: Int) async -> Int {
        var count = 0
        while let answer = await pipe.next() {
            #expect(answer.status == 200, "\(answer.text.prefix(300))")
            #expect(answer.body?.count == length)
            count += 1
        }
        return count
    }

    @Test("the first burst of long bodies keeps within it, of known length or not", arguments: ["", "?chunked=1"])
    func burst(query: String) async throws {
        try await withOrigin { origin in
            let pipe = try started()
            let lines = (0..<40).map { #"{"id":\#($0),"url":"\#(origin.url("/bytes/300000"))\#(query)"}"# }
            async let writing: Void = pipe.write(lines, ends: true)
            let most = await peak(of: pipe, origin, atLeast: 300_000)
            // Mappings are of whole pages.
            #expect(most <= (1 << 20) + (4 << 12), "\(most)")
            #expect(await readAll(pipe, length: 300_000) == 40)
            await writing
            #expect(await pipe.exitStatus() == 0)
        }
    }

    @Test("a body longer than all of it goes alone, and short ones pass it")
    func alone() async throws {
        try await withOrigin { origin in
            let pipe = try started()
            for id in 0..<4 { pipe.write(#"{"id":\#(id),"url":"\#(origin.url("/bytes/3000000"))"}"#) }
            let most = await peak(of: pipe, origin, atLeast: 3_000_000)
            #expect(most <= 3_000_000 + (1 << 17), "\(most)")
            for id in 4..<24 { pipe.write(#"{"id":\#(id),"url":"\#(origin.url("/bytes/1000"))"}"#) }
            let answers = await pipe.finish()
            #expect(answers.count == 24 && answers.values.allSatisfy { $0.status == 200 })
            #expect(answers["3"]?.body == ReferenceBytes.bytes(3_000_000))
            #expect(await pipe.exitStatus() == 0)
        }
    }

    @Test("short bodies are answered while a long one fills it")
    func short() async throws {
        let end = Occasion()
        let slow = try ScriptedOrigin { _ in
            var answer = ScriptedOrigin.Answer(200, String(repeating: "x", count: 1_000_000))
            answer.rest = (ReferenceBytes.bytes(1_000_000), end)
            return answer
        }
        defer {
            end.open()
            slow.stop()
        }
        try await withOrigin { origin in
            let pipe = try started()
            pipe.write(#"{"id":0,"url":"\#(slow.url())"}"#)
            #expect(await eventually { ProcessTree.bodies(of: pipe.pid) > 65_536 })
            pipe.write(#"{"id":1,"url":"\#(origin.url("/bytes/2000000"))"}"#)
            for id in 2..<14 { pipe.write(#"{"id":\#(id),"url":"\#(origin.url("/bytes/60000"))"}"#) }
            pipe.closeInput()
            var order: [String] = []
            while order.count < 12, let answer = await pipe.next() { order.append(answer.id) }
            end.open()
            while let answer = await pipe.next() { order.append(answer.id) }
            #expect(order.count == 14)
            #expect(Set(order.suffix(2)) == ["0", "1"], "\(order)")
            #expect(await pipe.exitStatus() == 0)
        }
    }

    @Test("a slow body of unknown length stops neither short ones nor one that does not fit beside it")
    func slow() async throws {
        let end = Occasion()
        let trickling = try ScriptedOrigin { _ in
            var answer = ScriptedOrigin.Answer(200, String(repeating: "x", count: 300_000))
            answer.framing = .close
            answer.rest = (Array("y".utf8), end)
            return answer
        }
        defer { trickling.stop() }
        try await withOrigin { origin in
            let pipe = try started()
            pipe.write(#"{"id":0,"url":"\#(trickling.url())"}"#)
            #expect(await eventually { ProcessTree.bodies(of: pipe.pid) > 65_536 })
            pipe.write(#"{"id":1,"url":"\#(origin.url("/bytes/1048576"))"}"#)
            for id in 2..<82 { pipe.write(#"{"id":\#(id),"url":"\#(origin.url("/bytes/60000"))"}"#) }
            var ids: Set<String> = []
            while ids.count < 81, let answer = await pipe.next() { ids.insert(answer.id) }
            #expect(ids == Set((1..<82).map { "\($0)" }))
            end.open()
            let answers = await pipe.finish()
            #expect(answers["0"]?.body?.count == 300_001)
            #expect(await pipe.exitStatus() == 0)
        }
    }

    @Test("bodies of the cache count, too")
    func stored() async throws {
        try await withOrigin { origin in
            let directory = try TemporaryDirectory()
            let line = #"{"url":"\#(origin.url("/bytes/300000?etag=1"))","cache_policy":"force-cache"}"#
            let first = try await PipeProcess.answers([line], ["--store", directory.path])
            #expect(first.values.first?.status == 200)
            let pipe = try started(["--store", directory.path])
            async let writing: Void = pipe.write(Array(repeating: line, count: 30), ends: true)
            let most = await peak(of: pipe, origin, atLeast: 300_000)
            #expect(most <= (1 << 20) + (4 << 12), "\(most)")
            var count = 0
            while let answer = await pipe.next() {
                count += 1
                #expect(answer.members["from_cache"] as? Bool == true && answer.body?.count == 300_000)
            }
            await writing
            #expect(count == 30)
        }
    }

    @Test("short bodies of the cache count as long as they are decoded")
    func storedCoded() async throws {
        try await withOrigin { origin in
            let directory = try TemporaryDirectory()
            let target = "/gzip-bomb?size=3000000&field=Cache-Control:%20max-age=600"
            let line = #"{"url":"\#(origin.url(target))","cache_policy":"force-cache"}"#
            let first = try await PipeProcess.answers([line], ["--store", directory.path])
            #expect(first.values.first?.status == 200)
            let pipe = try started(["--store", directory.path])
            let before = ProcessTree.anonymousMemory(of: pipe.pid)
            async let writing: Void = pipe.write(Array(repeating: line, count: 18), ends: true)
            let most = await peak(of: pipe, origin, atLeast: 3_000_000)
            #expect(most < 12 << 20, "\(most)")
            // A sanitizer keeps what is freed.
            let grown = ProcessTree.anonymousMemory(of: pipe.pid) - before
            #expect(grown < 40 << 20 || Sanitizer.isPresent, "\(grown)")
            let answers = await pipe.beginnings()
            await writing
            #expect(answers.count == 18)
            for answer in answers {
                #expect(answer.text.contains(#","from_cache":true,"#), "\(answer.text)")
                // Of three million bytes.
                #expect(answer.encodedLength == 4_000_000)
            }
        }
    }

    @Test("the heads of redirects do not wait for the answer, however long they are")
    func redirectHeads() async throws {
        let end = Occasion()
        let lines = (0..<100).map { Array("X-\($0): ".utf8) + [UInt8](repeating: 0x61, count: 1000) }
        // The targets are /FETCH/HOP.
        let origin = try ScriptedOrigin { seen in
            let parts = seen.target.split(separator: "/").compactMap { Int($0) }
            guard parts.count == 2, parts[1] < 20 else {
                var answer = ScriptedOrigin.Answer(200, "there")
                if parts.first != 0 { answer.rest = (Array("!".utf8), end) }
                return answer
            }
            var answer = ScriptedOrigin.Answer(302, "", [("Location", "/\(parts[0])/\(parts[1] + 1)")])
            answer.lines = lines
            return answer
        }
        defer { origin.stop() }
        let pipe = try started()
        pipe.write(#"{"id":0,"url":"\#(origin.url("/0/0"))"}"#)
        let first = await pipe.next()
        #expect((first?.members["redirects"] as? [Any])?.count == 20)
        let before = ProcessTree.anonymousMemory(of: pipe.pid)
        for id in 1...16 { pipe.write(#"{"id":\#(id),"url":"\#(origin.url("/\(id)/0"))"}"#) }
        #expect(await eventually { origin.seen().count { $0.target.hasSuffix("/20") } == 17 })
        // Their heads are 32 MB. A sanitizer keeps what is freed.
        let grown = ProcessTree.anonymousMemory(of: pipe.pid) - before
        #expect(grown < 12 << 20 || Sanitizer.isPresent, "\(grown)")
        end.open()
        let answers = await pipe.finish()
        #expect(answers.count == 16)
        for answer in answers.values { #expect((answer.members["redirects"] as? [Any])?.count == 20) }
        #expect(await pipe.exitStatus() == 0)
    }

    @Test("a worker that dies gives back what its bodies held, and those that wait run out of no time")
    func lost() async throws {
        try await withOrigin { origin in
            let pipe = try started()
            let lines = (0..<24).map { #"{"id":\#($0),"url":"\#(origin.url("/bytes/300000"))","timeout":5}"# }
            async let writing: Void = pipe.write(lines, ends: true)
            _ = await peak(of: pipe, origin, atLeast: 300_000)
            // Longer than each has.
            try await Task.sleep(for: .milliseconds(5500))
            if let worker = ProcessTree.children(of: pipe.pid).first { kill(worker, SIGKILL) }
            #expect(await readAll(pipe, length: 300_000) == 24)
            await writing
            #expect(await pipe.exitStatus() == 0)
        }
    }

    @Test(
        "without a cache caches on the way are told all the same, and only-if-cached is status 504",
        arguments: [
            ("default", nil), ("no-cache", "max-age=0"), ("reload", "no-cache"), ("no-store", "no-cache"),
            ("force-cache", nil),
            ("only-if-cached", nil),
        ] as [(String, String?)])
    func policies(name: String, told: String?) async throws {
        try await withOrigin { origin in
            let line = #"{"id":1,"url":"\#(origin.url("/headers"))","cache_policy":"\#(name)"}"#
            let answers = try await PipeProcess.answers([line], ["--no-cache"])
            let answer = try #require(answers["1"])
            if name == "only-if-cached" {
                #expect(answer.status == 504 && answer.code == nil)
                return
            }
            #expect(answer.status == 200)
            let text = String(decoding: answer.body ?? [], as: UTF8.self)
            let object = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]
            let fields = object?["fields"] as? [[String]] ?? []
            #expect(fields.filter { $0.first == "Cache-Control" }.compactMap(\.last) == [told].compactMap(\.self))
        }
    }
}
