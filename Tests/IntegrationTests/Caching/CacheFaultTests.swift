import Foundation
import Glibc
import Testing
import Trawl

@Suite("A cache that is damaged, lost or refused", .timeLimit(.minutes(5)))
struct CacheFaultTests {
    /// Short enough for its record, and three checksums long.
    static let targets = ["/bytes/5000?seed=11", "/bytes/2500000?seed=12"]

    enum Place: CaseIterable {
        case memory, file, stream
    }

    @Test("a damaged body is a miss that repairs itself", arguments: Engine.allCases, Place.allCases)
    func damaged(engine: Engine, place: Place) async throws {
        try await withBytes(engine) { scene, coordinator in
            for (target, wanted) in scene.targets {
                _ = try await coordinator.get(target)
                try scene.damage(wanted[..<100])
                let response = try await scene.check(coordinator, target, wanted, place)
                #expect(response.source == .network)
                _ = try await coordinator.get(target)
                let again = try await scene.check(coordinator, target, wanted, place)
                #expect(again.source == .cache)
            }
        }
    }

    @Test("of an answer in place of a damaged one, its own head is told", arguments: Engine.allCases)
    func headOfDamaged(engine: Engine) async throws {
        try await withBytes(engine) { scene, coordinator in
            let (target, wanted) = scene.targets[1]
            _ = try await coordinator.get(target)
            try scene.damage(wanted[..<100])
            let fetch = coordinator.start(Request(target), into: .stream)
            var heads: [Response.ResponseHead] = []
            for await event in fetch.events {
                if case .head(let head) = event { heads.append(head) }
            }
            let response = try await fetch.response
            #expect(response.source == .network)
            #expect(heads.count == 1 && heads.first?.fields == response.fields, "\(heads)")
        }
    }

    @Test(
        "damage behind the first part of a body never becomes part of an answer", arguments: Engine.allCases,
        Place.allCases)
    func damagedLater(engine: Engine, place: Place) async throws {
        try await withBytes(engine) { scene, coordinator in
            let (target, wanted) = scene.targets[1]
            _ = try await coordinator.get(target)
            try scene.damage(wanted[2_000_000..<2_000_100])
            do {
                try await scene.check(coordinator, target, wanted, place)
            } catch let error as FetchError {
                // What a reader has been given cannot be taken back.
                #expect(place == .stream, "\(error)")
                #expect(error.isRetryable)
            }
            for _ in 0..<2 { try await scene.check(coordinator, target, wanted, place) }
            #expect(try await coordinator.get(target).source == .cache)
        }
    }

    @Test(
        "what stands in when the time is up, and is damaged, is no answer, and there is no more time for one",
        arguments: Engine.allCases)
    func damagedStandIn(engine: Engine) async throws {
        let scene = try BytesScene()
        defer { scene.origin.stop() }
        try await withTestCoordinator(workers: engine.workers) {
            $0.store = .directory(scene.store)
            $0.connectionsPerHost = 1
        } _: { coordinator in
            let (target, wanted) = scene.targets[1]
            _ = try await coordinator.get(target)
            try scene.damage(wanted[..<100])
            // The host's only place is taken for ten seconds.
            let other = coordinator.start(Request(scene.origin.url("/bytes/2000000?rate=200000")))
            let hasBegun = await eventually { other.currentProgress.download.completed > 0 }
            try #require(hasBegun)
            let policy: CachePolicy = [.askServerIfModified, .fallBackToCacheIfLoadFails]
            await failure(.timeout) {
                try await coordinator.get(target, policy) { $0.timeLimits.resource = .milliseconds(200) }
            }
            other.cancel()
            _ = try? await other.response
        }
    }

    @Test("a head whose body turns out to be damaged sets no cookie once more", arguments: Engine.allCases)
    func damagedWithCookie(engine: Engine) async throws {
        try await withBytes(engine) { scene, coordinator in
            let jar = RequestOptions.Cookies.Jar.memory("own")
            let (target, wanted) = scene.targets[1]
            let url = target + "&field=Set-Cookie:%20sid=1"
            _ = try await coordinator.get(url) { $0.cookies.jar = jar }
            let removed = try await coordinator.cookies(in: jar).removeAll { $0.name == "sid" }
            try #require(removed == 1)
            try scene.damage(wanted[..<100])
            let response = try await coordinator.get(url, .doNotLoad) { $0.cookies.jar = jar }
            #expect(response.source == .generated)
            #expect(try coordinator.cookies(in: jar).cookies().isEmpty)
        }
    }

    @Test("bodies that are gone are a miss", arguments: Engine.allCases, Place.allCases)
    func lostBodies(engine: Engine, place: Place) async throws {
        try await withBytes(engine) { scene, coordinator in
            let (target, wanted) = scene.targets[1]
            _ = try await coordinator.get(target)
            for blob in try scene.blobs() { unlink(blob) }
            #expect(try await scene.check(coordinator, target, wanted, place).source == .network)
            _ = try await coordinator.get(target)
            #expect(try await scene.check(coordinator, target, wanted, place).source == .cache)
        }
    }

    @Test("a body cut short is a miss", arguments: Engine.allCases)
    func shortBodies(engine: Engine) async throws {
        try await withBytes(engine) { scene, coordinator in
            let (target, wanted) = scene.targets[1]
            _ = try await coordinator.get(target)
            for blob in try scene.blobs() {
                // They are read-only.
                #expect(chmod(blob, 0o600) == 0)
                #expect(truncate(blob, 1_500_000) == 0)
            }
            for place in Place.allCases { _ = try? await scene.check(coordinator, target, wanted, place) }
            #expect(try await scene.check(coordinator, target, wanted, .memory).status == 200)
        }
    }

    @Test("a store that is removed under a running coordinator costs nothing but the cache", arguments: Engine.allCases)
    func removed(engine: Engine) async throws {
        try await withBytes(engine) { scene, coordinator in
            for (target, _) in scene.targets { _ = try await coordinator.get(target) }
            try FileManager.default.removeItem(atPath: scene.store)
            for place in Place.allCases {
                for (target, wanted) in scene.targets { try await scene.check(coordinator, target, wanted, place) }
                for size in [100, 300_000] {
                    let new = scene.origin.url("/bytes/\(size)?new=\(place)&field=Cache-Control:%20max-age=3600")
                    try await scene.check(coordinator, new, ReferenceBytes.bytes(size), place)
                }
            }
        }
    }

    @Test(
        "a store that cannot be opened costs nothing but the cache", arguments: Engine.allCases,
        ["file", "nowhere", "newer", "odd"])
    func unusable(engine: Engine, kind: String) async throws {
        let scene = try BytesScene()
        defer { scene.origin.stop() }
        switch kind {
        case "file": try scene.directory.put("store", [1, 2, 3])
        case "newer":
            try await scene.withCoordinator(.inProcess) { _ = try await $0.get(scene.targets[0].0) }
            try scene.makeNewer()
        case "odd":
            _ = try scene.directory.makeDirectory("store")
            try scene.directory.put("store/cache", Array("no directory".utf8))
        default: break
        }
        let before = try scene.directory.names().filter { $0.hasPrefix("store") }
        try await scene.withCoordinator(engine, store: kind == "nowhere" ? "/proc/trawl/store" : nil) { coordinator in
            for place in Place.allCases {
                for (target, wanted) in scene.targets {
                    let response = try await scene.check(coordinator, target, wanted, place)
                    #expect(response.source == .network)
                }
            }
            #expect(coordinator.cacheProblem?.code == .storeUnusable)
            let (target, _) = scene.targets[0]
            #expect(try await coordinator.get(target, .doNotLoad).source == .generated)
        }
        let after = try scene.directory.names().filter { $0.hasPrefix("store") }
        if kind == "newer" { #expect(after == before, "a newer store is left alone") }
    }

    @Test("a data file of nonsense is made anew", arguments: Engine.allCases, [0, 100, 1 << 20])
    func nonsense(engine: Engine, size: Int) async throws {
        let scene = try BytesScene()
        defer { scene.origin.stop() }
        try await scene.withCoordinator(engine) { coordinator in
            for (target, _) in scene.targets { _ = try await coordinator.get(target) }
        }
        try scene.directory.put("store/cache/data.mdb", ReferenceBytes.bytes(size))
        try await scene.withCoordinator(engine) { coordinator in
            for source in [Response.Source.network, .cache] {
                for (target, wanted) in scene.targets {
                    let response = try await scene.check(coordinator, target, wanted, .memory)
                    #expect(response.source == source)
                }
            }
        }
    }

    private func withBytes(_ engine: Engine, _ body: (BytesScene, Coordinator) async throws -> Void) async throws {
        let scene = try BytesScene()
        defer { scene.origin.stop() }
        try await scene.withCoordinator(engine) { try await body(scene, $0) }
    }
}

/// A store, and an origin whose bodies are known.
final class BytesScene: Sendable {
    let origin: LoopbackOriginProcess
    let directory: TemporaryDirectory
    let store: String
    /// URLs of a body inside its record and one in a file of its own, and what they are.
    let targets: [(String, [UInt8])]

    init(store: String? = nil) throws {
        let origin = try LoopbackOriginProcess()
        self.origin = origin
        directory = try TemporaryDirectory()
        self.store = store ?? directory.file("store")
        targets = [(5000, 11), (2_500_000, 12)].map { size, seed in
            (
                origin.url("/bytes/\(size)?seed=\(seed)&field=Cache-Control:%20max-age=3600"),
                ReferenceBytes.bytes(size, seed: UInt64(seed))
            )
        }
    }

    func withCoordinator(
        _ engine: Engine, store: String? = nil, workers: Int? = nil, byteBudget: UInt64? = nil,
        _ body: (Coordinator) async throws -> Void
    ) async throws {
        let output = try directory.makeDirectory("out")
        try await withTestCoordinator(workers: workers ?? engine.workers, outputDirectories: [output]) {
            $0.store = .directory(store ?? self.store)
            if let byteBudget { $0.cache.byteBudget = byteBudget }
        } _: {
            try await body($0)
        }
    }

    /// Fetches, and checks that the bytes are right when they come.
    @discardableResult
    func check(
        _ coordinator: Coordinator, _ url: String, _ wanted: [UInt8], _ place: CacheFaultTests.Place,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> Response {
        let bytes: [UInt8]?
        let response: Response
        var options = RequestOptions()
        options.caching.storesDownloads = true
        switch place {
        case .memory:
            response = try await coordinator.send(Request(url, options: options))
            bytes = response.body.bytes
        case .file:
            response = try await coordinator.send(
                Request(url, options: options), into: .file(directory.file("out/file")))
            bytes = directory.content("out/file")
        case .stream:
            let fetch = coordinator.start(Request(url, options: options), into: .stream)
            var streamed: [UInt8] = []
            for await event in fetch.events {
                guard case .data(let piece) = event else { continue }
                streamed += piece
            }
            // Right as far as it came, whatever the end.
            #expect(
                streamed.count <= wanted.count && streamed.elementsEqual(wanted.prefix(streamed.count)),
                sourceLocation: sourceLocation)
            response = try await fetch.response
            bytes = streamed
        }
        #expect(bytes == wanted, "\(bytes?.count ?? -1) bytes into \(place)", sourceLocation: sourceLocation)
        return response
    }

    /// The files of bodies.
    func blobs() throws -> [String] {
        let root = store + "/cache/blobs"
        return try FileManager.default.subpathsOfDirectory(atPath: root).map { root + "/" + $0 }.filter { path in
            var info = stat()
            return lstat(path, &info) == 0 && info.st_mode & S_IFMT == S_IFREG
        }
    }

    /// Turns over a byte in the middle of a sequence that is somewhere in the store, wherever it is.
    func damage(_ sequence: some Collection<UInt8>) throws {
        let sequence = Data(sequence)
        var count = 0
        for path in try blobs() + [store + "/cache/data.mdb"] {
            guard let content = FileManager.default.contents(atPath: path) else { continue }
            var from = content.startIndex
            while let found = content.range(of: sequence, in: from..<content.endIndex) {
                try patch(path, at: found.lowerBound + sequence.count / 2) { ~$0 }
                from = found.upperBound
                count += 1
            }
        }
        try #require(count > 0, "the bytes are nowhere")
    }

    /// Gives the store a format of the future.
    func makeNewer() throws {
        let path = store + "/cache/data.mdb"
        let content = try #require(FileManager.default.contents(atPath: path))
        var from = content.startIndex
        var count = 0
        while let found = content.range(of: Data("format".utf8), in: from..<content.endIndex) {
            from = found.upperBound
            // The value is behind its key; the table's name ends like it.
            if content[..<found.lowerBound].suffix(6).elementsEqual("trawl-".utf8) { continue }
            try patch(path, at: found.upperBound + 1) { _ in 1 }
            count += 1
        }
        try #require(count > 0, "the format is nowhere")
    }

    private func patch(_ path: String, at offset: Int, _ change: (UInt8) -> UInt8) throws {
        // Bodies may not be written to by anybody.
        chmod(path, 0o600)
        let file = open(path, O_RDWR | O_CLOEXEC)
        try #require(file >= 0)
        defer { close(file) }
        var byte: UInt8 = 0
        #expect(pread(file, &byte, 1, off_t(offset)) == 1)
        byte = change(byte)
        #expect(pwrite(file, &byte, 1, off_t(offset)) == 1)
    }
}
