import Foundation
import Testing
import Trawl

@Suite("Stored bodies, ASI-CACHE-22, ULS-NDL-07", .bed(), .timeLimit(.minutes(5)))
struct CacheBodyTests {
    /// Where a body goes.
    enum Place: CaseIterable {
        case memory, rooted, opened, stream, discard
    }

    /// In the record, the longest there, the shortest in a file of its own, and several checksums long.
    static let sizes = [0, 1, 16 << 10, (16 << 10) + 1, 5_000_000]

    @Test("any body is stored on its way to any place, and comes back whole in any", arguments: Engine.allCases, sizes)
    func bodies(engine: Engine, size: Int) async throws {
        let origin = try Bed.current.origin
        let directory = try TemporaryDirectory()
        let output = try directory.makeDirectory("out")
        let elsewhere = try directory.makeDirectory("elsewhere")
        try await withTestCoordinator(workers: engine.workers, outputDirectories: [output]) {
            $0.store = .directory(directory.file("store"))
        } _: { coordinator in
            for (seed, first) in Place.allCases.enumerated() {
                let mark = "\(engine.workers)\(size)\(seed)"
                let url = origin.url("/bytes/\(size)?seed=\(seed + 1)&mark=\(mark)&field=Cache-Control:%20max-age=3600")
                let wanted = first == .discard ? nil : ReferenceBytes.bytes(size, seed: UInt64(seed + 1))
                for (index, place) in ([first] + Place.allCases).enumerated() {
                    var options = RequestOptions()
                    options.caching.storesDownloads = true
                    let name = "\(mark)-\(index)"
                    let source: Response.Source = index == 0 ? .network : .cache
                    var bytes: [UInt8]?
                    let response: Response
                    switch place {
                    case .memory:
                        response = try await coordinator.send(Request(url, options: options))
                        bytes = response.body.bytes
                    case .rooted, .opened:
                        let path = (place == .rooted ? output : elsewhere) + "/" + name
                        response = try await coordinator.send(Request(url, options: options), into: .file(path))
                        bytes = FileManager.default.contents(atPath: path).map(Array.init) ?? []
                        #expect(response.file == (size > 0 ? path : nil))
                    case .stream:
                        let fetch = coordinator.start(Request(url, options: options), into: .stream)
                        bytes = try await readStream(fetch)
                        response = try await fetch.response
                    case .discard:
                        response = try await coordinator.send(Request(url, options: options), into: .discard)
                    }
                    #expect(response.source == source, "\(first), then \(place)")
                    #expect(response.receivedLength == UInt64(size), "\(first), then \(place)")
                    if let bytes, let wanted {
                        #expect(bytes == wanted, "\(first), then \(place): \(bytes.count) bytes")
                    }
                }
                #expect(try origin.log(prefix: "/bytes/\(size)?seed=\(seed + 1)&mark=\(mark)&").count == 1)
            }
        }
    }

    @Test("a body without an announced length is stored too", arguments: ["chunked", "nolength"])
    func framings(framing: String) async throws {
        try await with { coordinator, origin in
            for size in [100, 100_000] {
                let url = origin.url("/bytes/\(size)?seed=7&\(framing)&field=Cache-Control:%20max-age=3600")
                for source in [Response.Source.network, .cache] {
                    let response = try await coordinator.get(url)
                    #expect(response.source == source)
                    #expect(response.body.bytes == ReferenceBytes.bytes(size, seed: 7))
                }
            }
        }
    }

    @Test(
        "a body that is not whole is not stored",
        arguments: ["/truncate?declared=1000&sent=500", "/truncate?declared=90000&sent=50000&chunked"])
    func truncated(target: String) async throws {
        try await with { coordinator, origin in
            let url = origin.url(target + "&field=Cache-Control:%20max-age=3600")
            for _ in 0..<2 { await failure { try await coordinator.get(url) } }
            let stored = try await coordinator.get(url, .doNotLoad)
            #expect(stored.source == .generated)
        }
    }

    @Test(
        "coded bodies are stored as they came, and decoded for who wants that",
        arguments: ["gzip", "brotli", "deflate"])
    func coded(coding: String) async throws {
        try await with { coordinator, origin in
            let url = origin.url("/\(coding)?field=Cache-Control:%20max-age=3600")
            let raw = try await coordinator.get(url) { $0.contentDecoding = .off }
            #expect(raw.source == .network)
            #expect(raw.body.bytes != ReferenceBytes.plainText)
            let decoded = try await coordinator.get(url)
            #expect(decoded.source == .cache)
            #expect(decoded.body.bytes == ReferenceBytes.plainText)
            #expect(decoded.isCompressed)
            let kept = try await coordinator.get(url) { $0.contentDecoding = .onRead }
            #expect(kept.source == .cache)
            #expect(kept.body.bytes == raw.body.bytes)
            #expect(try kept.body.decoded() == ReferenceBytes.plainText)
            let off = try await coordinator.get(url) { $0.contentDecoding = .off }
            #expect(off.source == .cache)
            #expect(off.body.bytes == raw.body.bytes)
            #expect(try await readStream(coordinator.start(Request(url), into: .stream)) == ReferenceBytes.plainText)
        }
    }

    @Test("who does not accept a coding does not get what is stored in it")
    func unaccepted() async throws {
        try await with { coordinator, origin in
            let url = origin.url("/gzip?unaccepted&field=Cache-Control:%20max-age=3600")
            _ = try await coordinator.get(url) { $0.contentDecoding = .off }
            let response = try await coordinator.get(url, fields: ["Accept-Encoding": "identity"]) {
                $0.contentDecoding = .off
            }
            #expect(response.source == .network)
        }
    }

    @Test("ranges are cut out of what is stored", arguments: [1000, 3_000_000])
    func ranges(size: Int) async throws {
        try await with { coordinator, origin in
            let url = origin.url("/bytes/\(size)?seed=3&etag=1&field=Cache-Control:%20max-age=3600")
            _ = try await coordinator.get(url)
            let whole = ReferenceBytes.bytes(size, seed: 3)
            for (range, slice) in [
                ("0-9", whole[..<10]), ("\(size - 7)-", whole[(size - 7)...]), ("-5", whole[(size - 5)...]),
            ] {
                let response = try await coordinator.get(url, fields: ["Range": "bytes=\(range)"])
                #expect(response.status == 206)
                #expect(response.source == .cache)
                #expect(response.body.bytes == Array(slice), "\(range)")
                #expect(response.fields["Content-Range"]?.hasSuffix("/\(size)") == true)
            }
            #expect(try origin.log(prefix: "/bytes/\(size)?seed=3&etag=1").count == 1)
        }
    }

    @Test("the rest of a stored part is asked for, and the whole is stored", arguments: [1000, 3_000_000])
    func completes(size: Int) async throws {
        try await with { coordinator, origin in
            let url = origin.url("/bytes/\(size)?seed=4&etag=1&field=Cache-Control:%20max-age=3600")
            let whole = ReferenceBytes.bytes(size, seed: 4)
            let part = try await coordinator.get(url, fields: ["Range": "bytes=0-\(size / 2)"])
            #expect(part.status == 206)
            #expect(part.source == .network)
            let again = try await coordinator.get(url, fields: ["Range": "bytes=5-9"])
            #expect(again.source == .cache)
            #expect(again.body.bytes == Array(whole[5..<10]))
            let completed = try await coordinator.get(url)
            #expect(completed.status == 200)
            #expect(completed.body.bytes == whole)
            // Only the rest came.
            #expect(completed.metrics.last.map { $0.bytesReceived < UInt64(size / 2 + 1000) } == true)
            let third = try await coordinator.get(url)
            #expect(third.source == .cache)
            #expect(third.body.bytes == whole)
            #expect(try origin.log(prefix: "/bytes/\(size)?seed=4&etag=1").count == 2)
        }
    }

    @Test("downloads are stored only where that is wanted, and what is stored serves them", arguments: Engine.allCases)
    func downloads(engine: Engine) async throws {
        try await with(engine) { coordinator, origin in
            let url = origin.url("/bytes/50000?downloads=\(engine)&field=Cache-Control:%20max-age=3600")
            let path = try Bed.current.directory.file("download-\(engine)")
            for _ in 0..<2 { #expect(try await coordinator.get(url, into: .file(path)).source == .network) }
            #expect(
                try await coordinator.get(url, into: .file(path)) { $0.caching.storesDownloads = true }.source
                    == .network)
            #expect(try await coordinator.get(url, into: .file(path)).source == .cache)
            #expect(FileManager.default.contents(atPath: path).map(Array.init) == ReferenceBytes.bytes(50000))
        }
    }

    @Test("files made of what is stored keep the rules for names that are taken and for empty bodies")
    func files() async throws {
        try await with { coordinator, origin in
            let directory = try TemporaryDirectory()
            try directory.put("taken", [1])
            var keeps = Destination.FileOptions()
            keeps.replaces = false
            keeps.createsEmptyFile = true
            for size in [0, 100, 100_000] {
                let url = origin.url("/bytes/\(size)?files&field=Cache-Control:%20max-age=3600")
                _ = try await coordinator.get(url)
                await failure(.file) {
                    try await coordinator.get(url, into: .file(directory.file("taken"), options: keeps))
                }
                #expect(directory.content("taken") == [1])
                _ = try await coordinator.get(url, into: .file(directory.file("new\(size)"), options: keeps))
                #expect(directory.content("new\(size)") == ReferenceBytes.bytes(size))
            }
            #expect(try directory.names() == ["new0", "new100", "new100000", "taken"])
        }
    }

    @Test("a limit on bodies holds for stored ones", arguments: [1000, 100_000])
    func limits(size: Int) async throws {
        try await with { coordinator, origin in
            let url = origin.url("/bytes/\(size)?limits&field=Cache-Control:%20max-age=3600")
            _ = try await coordinator.get(url)
            await failure(.tooLarge) { try await coordinator.get(url) { $0.sizeLimits.bodyBytes = UInt64(size - 1) } }
            #expect(try await coordinator.get(url) { $0.sizeLimits.bodyBytes = UInt64(size) }.source == .cache)
        }
    }

    private func with(
        _ engine: Engine = .workers, _ body: (Coordinator, LoopbackOriginProcess) async throws -> Void
    ) async throws {
        let directory = try TemporaryDirectory()
        let origin = try Bed.current.origin
        try await withTestCoordinator(workers: engine.workers) {
            $0.store = .directory(directory.file("store"))
        } _: {
            try await body($0, origin)
        }
    }
}
