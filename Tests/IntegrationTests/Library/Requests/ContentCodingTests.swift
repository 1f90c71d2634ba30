import TestSupport
import Testing
import Trawl

@Suite("Content codings are undone with care, ASI-GZ-01 to 04, ASI-RSP-01, 09, ASI-RSP-07", .bed())
struct ContentCodingTests {
    @Test(
        "good codings give the plain text (ASI-DL-03)", .timeLimit(.minutes(3)),
        arguments: [
            ("/gzip", "gzip"), ("/deflate", "deflate"), ("/raw-deflate", "deflate"), ("/brotli", "br"),
            ("/gzip-multi", "gzip"), ("/gzip-garbage-after", "gzip"),
        ], ["", "?chunked=1"])
    func good(coding: (target: String, name: String), query: String) async throws {
        let bed = try Bed.current
        for engine in Engine.allCases {
            let response = try await bed.get(coding.target + query, on: engine)
            #expect(response.body.bytes == ReferenceBytes.plainText)
            #expect(response.contentCodings == [coding.name])
            #expect(response.isCompressed)
            #expect(response.receivedLength == 30_800)
        }
        let fetch = bed.coordinator.start(Request(bed.url(coding.target + query)), into: .stream)
        #expect(try await readStream(fetch) == ReferenceBytes.plainText)
        let name = coding.target.dropFirst() + (query.isEmpty ? "" : "-chunked")
        for path in [bed.outputDirectory + "/\(name)", bed.directory.file("elsewhere-\(name)")] {
            let saved = try await bed.get(coding.target + query, into: .file(path))
            #expect(saved.file == path)
            #expect(
                bed.directory.content(String(path.dropFirst(bed.directory.path.count + 1))) == ReferenceBytes.plainText)
        }
    }

    @Test(
        "damaged codings fail and give nothing", .timeLimit(.minutes(3)),
        arguments: [
            "/gzip-truncated", "/gzip-truncated?chunked=1", "/gzip-badcrc", "/coding?names=gzip", "/coding?names=br",
            "/coding?names=deflate",
        ])
    func damaged(target: String) async throws {
        let bed = try Bed.current
        for engine in Engine.allCases {
            let error = await failure(.decoding) { try await bed.get(target, on: engine) }
            #expect(error?.legacyCode == 11)
        }
        let name = "damaged" + String(target.filter(\.isLetter))
        await failure { try await bed.get(target, into: .file(bed.outputDirectory + "/" + name)) }
        await failure { try await bed.get(target, into: .file(bed.directory.file(name))) }
        #expect(try await eventually { try bed.directory.names().allSatisfy { !$0.contains(name) } })
    }

    @Test("a bomb is stopped by ratio, by size and by memory", .timeLimit(.minutes(2)), arguments: ["gzip", "deflate"])
    func bomb(coding: String) async throws {
        let bed = try Bed.current
        let target = "/gzip-bomb?coding=\(coding)"
        await failure(.decoding) { try await bed.get(target) }
        await failure(.decoding) { try await bed.get(target, into: .discard) }
        await failure(.tooLarge) {
            try await bed.get(target, into: .discard) {
                $0.sizeLimits.codingRatio = 0
                $0.sizeLimits.bodyBytes = 10_000_000
            }
        }
        await failure(.tooLarge) {
            try await bed.get(target) {
                $0.sizeLimits.codingRatio = 0
                $0.sizeLimits.memoryBytes = 10_000_000
            }
        }
        for child in ProcessTree.children() { #expect(ProcessTree.anonymousMemory(of: child) < 100 << 20) }
    }

    @Test("a bomb takes no memory on its way to what stops it", .timeLimit(.minutes(3)))
    func bombMemory() async throws {
        let bed = try Bed.current
        let others = ProcessTree.children()
        try await withTestCoordinator(workers: 1) { coordinator in
            _ = try await coordinator.send(Request(bed.url("/gzip")))
            let worker = try #require(ProcessTree.children().first { !others.contains($0) })
            /// The most memory it ever had, in KiB.
            func most() throws -> Int {
                let text = try #require(ProcessTree.status("VmHWM", of: worker))
                return try #require(Int(text.prefix { $0 != " " }))
            }
            let before = try most()
            let request = Request(bed.url("/gzip-bomb?coding=gzip"))
            await failure(.decoding) { try await coordinator.send(request, into: .discard) }
            var unlimited = request
            unlimited.options.sizeLimits.codingRatio = 0
            unlimited.options.sizeLimits.bodyBytes = 10_000_000
            let other = unlimited
            await failure(.tooLarge) { try await coordinator.send(other, into: .discard) }
            let grown = try most() - before
            // A sanitizer keeps what is freed.
            #expect(grown < 32 << 10 || Sanitizer.isPresent, "\(grown) KiB")
        }
    }

    @Test(
        "on reading, the coded form is kept and decoded each time", .timeLimit(.minutes(3)),
        arguments: ["/gzip", "/brotli", "/raw-deflate"])
    func onRead(target: String) async throws {
        let bed = try Bed.current
        let coded = try await bed.get(target) { $0.contentDecoding = .off }
        let response = try await bed.get(target) { $0.contentDecoding = .onRead }
        #expect(response.body.bytes == coded.body.bytes)
        #expect(response.body.count < 5000)
        #expect(try response.body.decoded() == ReferenceBytes.plainText)
        #expect(try response.body.decoded() == ReferenceBytes.plainText)
        #expect(try coded.body.decoded() == coded.body.bytes)
        let decoded = try await bed.get(target)
        #expect(try decoded.body.decoded() == ReferenceBytes.plainText)
    }

    @Test("on reading, damage and bombs show at the reading", .timeLimit(.minutes(3)))
    func onReadDamage() async throws {
        let bed = try Bed.current
        for target in ["/gzip-badcrc", "/gzip-truncated", "/gzip-bomb"] {
            let response = try await bed.get(target) {
                $0.contentDecoding = .onRead
                $0.sizeLimits.memoryBytes = 64 << 20
            }
            do throws(FetchError) {
                _ = try response.body.decoded()
                Issue.record("\(target) was decoded")
            } catch {
                #expect(error.code == .decoding)
            }
        }
    }

    @Test("off leaves the body as it came", .timeLimit(.minutes(3)))
    func off() async throws {
        let bed = try Bed.current
        let response = try await bed.get("/gzip") { $0.contentDecoding = .off }
        #expect(response.body.bytes.starts(with: [0x1F, 0x8B]))
        #expect(response.contentCodings == ["gzip"])
        #expect(response.expectedLength == UInt64(response.body.count))
    }

    @Test("so it does in a stream", .timeLimit(.minutes(3)), arguments: ["/gzip", "/brotli"], Engine.allCases)
    func offInStream(target: String, engine: Engine) async throws {
        let bed = try Bed.current
        let coded = try PlainClient.get(port: bed.origin.port, target: target)
        #expect(!coded.isEmpty && coded.count < ReferenceBytes.plainText.count)
        var request = Request(bed.url(target))
        request.options.contentDecoding = .off
        let fetch = bed.coordinator(engine).start(request, into: .stream)
        #expect(try await readStream(fetch) == coded)
        #expect(try await fetch.response.receivedLength == UInt64(coded.count))
    }

    @Test("codings are announced only when asked for", .timeLimit(.minutes(3)))
    func acceptEncoding() async throws {
        let bed = try Bed.current
        #expect(try await bed.get("/anything").seen().value("accept-encoding") == "gzip, deflate, br")
        let none = try await bed.get("/anything") { $0.acceptsCompressedResponses = false }
        #expect(try none.seen().values("accept-encoding").isEmpty)
        // What a server codes all the same is undone.
        let unasked = try await bed.get("/gzip") { $0.acceptsCompressedResponses = false }
        #expect(unasked.contentCodings == ["gzip"] && !unasked.body.bytes.starts(with: [0x1F, 0x8B]))
        var request = Request(bed.url("/anything"))
        request.fields.set("Accept-Encoding", "identity")
        #expect(try await bed.coordinator.send(request).seen().values("accept-encoding") == ["identity"])
    }

    @Test(
        "an unknown coding is left alone, identity is none, and a known one over an unknown one is undone",
        .timeLimit(.minutes(3)))
    func unknown() async throws {
        let bed = try Bed.current
        let unknown = try await bed.get("/coding?names=compress")
        #expect(unknown.body.bytes == ReferenceBytes.plainText)
        #expect(unknown.contentCodings == ["compress"])
        let plain = try await bed.get("/coding?names=identity")
        #expect(plain.body.bytes == ReferenceBytes.plainText)
        #expect(plain.contentCodings.isEmpty && !plain.isCompressed)
        #expect(try await bed.get("/coding?names=gzip,compress").body.bytes == ReferenceBytes.plainText)
    }

    @Test("more layers than allowed are refused", .timeLimit(.minutes(3)))
    func layers() async throws {
        let bed = try Bed.current
        await failure(.decoding) { try await bed.get("/coding?names=gzip,gzip,gzip,gzip") }
    }

    @Test("HEAD of a coded representation is no damaged body", .timeLimit(.minutes(3)))
    func head() async throws {
        let bed = try Bed.current
        let response = try await bed.coordinator.send(Request(.head, bed.url("/gzip")))
        #expect(response.fields["Content-Encoding"] == "gzip")
        #expect(response.body.isEmpty)
    }

    @Test("a body that unfolds without end holds up nobody else", .timeLimit(.minutes(2)))
    func fairness() async throws {
        try await withOrigin { origin in
            try await withTestCoordinator(workers: 1) { coordinator in
                var bomb = Request(origin.url("/gzip-bomb?size=100000000000"))
                bomb.options.sizeLimits.codingRatio = 0
                let fetch = coordinator.start(bomb, into: .discard)
                for await event in fetch.events { if case .head = event { break } }
                for _ in 0..<10 {
                    var small = Request(origin.url("/bytes/100"))
                    small.options.timeLimits.resource = .seconds(30)
                    _ = try await coordinator.send(small)
                }
                fetch.cancel()
                #expect(try await eventually(within: .seconds(30)) { try origin.concurrency().now == 0 })
            }
        }
    }
}
