import Foundation
import Glibc
import Testing
import TrawlPlatform

@testable import Trawl

/// A writer may be stopped at any point (SIGSTOP, the terminal's Ctrl-Z, a debugger), and only one can write at a time.
@Suite("Beside a process that is stopped while it writes to the cache", .serialized, .timeLimit(.minutes(5)))
struct CacheStoppedWriterTests {
    /// A process of the store's own tests.
    private final class Hammer {
        private let process = Process()
        private let (input, output) = (Pipe(), Pipe())

        init(_ arguments: String...) throws {
            process.executableURL = URL(fileURLWithPath: try BuiltProducts.directory() + "/StoreHammer")
            process.arguments = arguments
            process.environment = ["SWIFT_BACKTRACE": "enable=no"]
            process.standardInput = input
            process.standardOutput = output
            try process.run()
        }

        deinit { end() }

        func end() {
            guard process.isRunning else { return }
            kill(process.processIdentifier, SIGKILL)
            process.waitUntilExit()
        }

        /// Asks it for a line.
        func ask() -> String {
            try? input.fileHandleForWriting.write(contentsOf: Data("\n".utf8))
            return line()
        }

        func line() -> String {
            var bytes: [UInt8] = []
            while let next = try? output.fileHandleForReading.read(upToCount: 1), let byte = next.first, byte != 10 {
                bytes.append(byte)
            }
            return String(decoding: bytes, as: UTF8.self)
        }
    }

    private func fresh(_ target: String) -> String { target + "&field=Cache-Control:%20max-age=600" }

    @Test(
        "a fetch costs a moment more and is not stored, a hit costs nothing, and what must write says why it cannot",
        arguments: ["cache-hold", "environment-stranger"])
    func stopped(mode: String) async throws {
        let directory = try TemporaryDirectory()
        let store = directory.file("store")
        func get(_ url: String, _ options: String...) throws -> CommandRun {
            try CommandRun(["get", "--store", store, "-w", "|%{source}"] + options + [url])
        }
        try await withOrigin { origin in
            let urls = (0..<3).map { origin.url(fresh("/bytes/10?seed=\($0)")) }
            #expect(try get(urls[0]).status == 0)
            let hammer = try Hammer(mode, store + "/cache")
            let isReady = hammer.line()
            #expect(isReady == "ready" || isReady == "inside")
            let clock = ContinuousClock()
            let elapsed = try clock.measure {
                let miss = try get(urls[1], "-m", "30")
                #expect(miss.status == 0)
                #expect(miss.text.hasSuffix("|network"))
                let hit = try get(urls[0])
                #expect(hit.text.hasSuffix("|cache"))
                #expect(try CommandRun(["cache", "stats", "--store", store]).status == 0)
            }
            // Who waits for the stopped one waits without end.
            #expect(elapsed < .seconds(90))
            for arguments in [["rm", urls[0]], ["clear"], ["prune"], ["verify"]] {
                let run = try CommandRun(["cache"] + arguments + ["--store", store])
                #expect(run.status != 0, "\(arguments)")
                #expect(run.errors.contains("it may be stopped"), "\(arguments): \(run.errors)")
            }
            hammer.end()
            #expect(try get(urls[1]).text.hasSuffix("|network"))
            #expect(try get(urls[1]).text.hasSuffix("|cache"))
            #expect(try CommandRun(["cache", "rm", urls[0], "--store", store]).status == 0)
        }
    }

    @Test("a POST that was answered is not sent again when its worker dies before the store has its end")
    func deathBeforeCommit() async throws {
        let before = Set(ProcessTree.children())
        try await withScene(workers: 1, answering: { page("one", to: $0) }) { scene, coordinator in
            _ = try await coordinator.send(Request(scene.origin.url("/page")))
            let workers = ProcessTree.children()
            let hammer = try Hammer("cache-hold", scene.store + "/cache")
            #expect(hammer.line() == "ready")
            let others = before.union(Set(ProcessTree.children()).subtracting(workers))
            func finished() -> Set<UInt64> {
                let segment = coordinator.segment
                let lines = (0..<segment.transfersPerWorker).map {
                    segment.progress(worker: 0, transfer: $0).snapshot()
                }
                return Set(lines.compactMap { $0 }.filter(\.isOver).map(\.lease))
            }
            // An end waits for a second at most, which a busy machine may miss.
            var isLost = false
            for number in 0..<20 where !isLost {
                let known = finished()
                let target = "/post/\(number)"
                let fetch = coordinator.start(Request(.post, scene.origin.url(target)))
                let isOver = await eventually { !finished().isSubset(of: known) }
                #expect(isOver)
                for worker in ProcessTree.children() where !others.contains(worker) { kill(worker, SIGKILL) }
                let code = await failure { _ = try await fetch.response }
                isLost = code == .workerLost
                #expect(isLost || code == nil)
                #expect(scene.origin.seen(target).count == 1)
            }
            #expect(isLost)
            hammer.end()
        }
    }

    /// What a change fails with; nil when it does not.
    private func failure(of change: () async throws -> Void) async -> FetchError.Code? {
        do {
            try await change()
            return nil
        } catch {
            return (error as? FetchError)?.code
        }
    }

    @Test("a change by hand says that it cannot be made, and who is cancelled does not wait for it")
    func byHand() async throws {
        try await withScene(.workers, answering: { page("one", to: $0) }) { scene, coordinator in
            let cache = try #require(coordinator.cache)
            let request = Request(scene.origin.url("/page"))
            _ = try await coordinator.send(request)
            _ = try await coordinator.get(scene.origin.url("/session")) { $0.caching.storage = .session }
            #expect(try cache.usage().responses == 2)
            let hammer = try Hammer("cache-hold", scene.store + "/cache")
            #expect(hammer.line() == "ready")
            #expect(await failure { try await cache.remove(request) } == .storeUnusable)
            #expect(await failure { try await coordinator.clearSession() } == .storeUnusable)
            let removing = Task { await failure { _ = try await cache.removeAll() } }
            removing.cancel()
            #expect(await removing.value == .cancelled)
            #expect(try cache.usage().responses == 2)
            hammer.end()
            #expect(await failure { try await cache.remove(request) } == nil)
            #expect(await failure { try await coordinator.clearSession() } == nil)
            #expect(try cache.usage().responses == 0)
        }
    }

    @Test("a change by hand is made although its task was cancelled before")
    func cancelledBefore() async throws {
        try await withScene(answering: { page("one", to: $0) }) { scene, coordinator in
            let cache = try #require(coordinator.cache)
            _ = try await coordinator.get(scene.origin.url("/page"))
            _ = try await coordinator.get(scene.origin.url("/session")) { $0.caching.storage = .session }
            #expect(try cache.usage().responses == 2)
            /// It may be made before anybody looks whether it is waited for.
            func isLeft(_ change: @escaping @Sendable () async throws -> Void) async -> Bool {
                let code = await Task {
                    withUnsafeCurrentTask { $0?.cancel() }
                    return await failure(of: change)
                }.value
                return code == nil || code == .cancelled
            }
            #expect(await isLeft { try await coordinator.clearSession() })
            #expect(await eventually { (try? cache.usage().responses) == 1 })
            #expect(await isLeft { _ = try await cache.removeAll() })
            #expect(await eventually { (try? cache.usage().responses) == 0 })
        }
    }

    @Test("a change by hand waits on no thread of its caller's")
    func mainActor() async throws {
        try await withScene(answering: { page("one", to: $0) }) { scene in
            try await scene.withCoordinator { _ = try await $0.get(scene.origin.url("/first")) }
            let lock = keepFromOpening(scene.store + "/cache")
            try await scene.withCoordinator { coordinator in
                let cache = try #require(coordinator.cache)
                let request = Request(scene.origin.url("/page"))
                let inserting = Task { @MainActor in
                    try await cache.insert(
                        fields: ["Cache-Control": "max-age=60"], body: Array("by hand".utf8), for: request)
                }
                // The main actor is free before the store is.
                await MainActor.run {}
                close(lock)
                try await inserting.value
                #expect(summary(try await coordinator.send(request)) == "cache 200 by hand")
            }
        }
    }

    @Test("a cookie that is set or removed by hand waits on no thread of its caller's")
    func cookiesOnMainActor() async throws {
        let cookie = Cookie("a", "1", domain: "127.0.0.1")
        try await withScene(answering: { page("one", to: $0) }) { scene in
            try await scene.withCoordinator { try await $0.cookies.set(cookie) }
            let lock = keepFromOpening(scene.store + "/state")
            try await scene.withCoordinator { coordinator in
                let cookies = coordinator.cookies
                let setting = Task { @MainActor in try await cookies.set(cookie) }
                let removing = Task { @MainActor in try await cookies.removeAll(since: .max) }
                // The main actor is free before the store is.
                await MainActor.run {}
                close(lock)
                try await setting.value
                let removed = try await removing.value
                #expect(removed == 0)
                let names = try cookies.cookies().map(\.name)
                #expect(names == ["a"])
            }
        }
    }

    /// Starts the workers: that is no part of the ten seconds for which the opening of a store waits.
    private func warm(_ coordinator: Coordinator, _ scene: CacheScene) async throws {
        let response = try await coordinator.get(scene.origin.url("/warm")) {
            $0.cookies.jar = .none
            $0.caching.cache = .none
        }
        #expect(response.source == .network)
    }

    @Test("who keeps the store from being opened delays only fetches that want it", arguments: Engine.allCases)
    func notOpened(engine: Engine) async throws {
        try await withScene(answering: { page("one", to: $0) }) { scene in
            try await scene.withCoordinator(engine) { _ = try await $0.get(scene.origin.url("/first")) }
            let lock = keepFromOpening(scene.store + "/cache")
            try await scene.withCoordinator(engine) { coordinator in
                try await warm(coordinator, scene)
                let isOver = Guarded(false)
                async let waiting = {
                    let response = try await coordinator.get(scene.origin.url("/wants"))
                    isOver.withLock { $0 = true }
                    return response.source
                }()
                for number in 0..<5 {
                    let other = try await coordinator.get(scene.origin.url("/other/\(number)")) {
                        $0.caching.cache = .none
                    }
                    #expect(other.source == .network)
                }
                #expect(!isOver.withLock { $0 })
                close(lock)
                #expect(try await waiting == .network)
                #expect(try await coordinator.get(scene.origin.url("/wants")).source == .cache)
                #expect(coordinator.cacheProblem == nil)
            }
        }
    }

    @Test("who keeps the state from being opened delays only fetches that want it", arguments: Engine.allCases)
    func stateNotOpened(engine: Engine) async throws {
        var cookie = Cookie("a", "1", domain: "127.0.0.1")
        cookie.expires = Int64(Date().timeIntervalSince1970 + 600) * 1000
        let kept = cookie
        try await withScene(answering: { page("one", to: $0) }) { scene in
            try await scene.withCoordinator(engine) { try await $0.cookies.set(kept) }
            let lock = keepFromOpening(scene.store + "/state")
            try await scene.withCoordinator(engine) { coordinator in
                try await warm(coordinator, scene)
                let isOver = Guarded(false)
                async let waiting = {
                    let response = try await coordinator.get(scene.origin.url("/wants"))
                    isOver.withLock { $0 = true }
                    return response.source
                }()
                for number in 0..<5 {
                    let other = try await coordinator.get(scene.origin.url("/other/\(number)")) {
                        $0.cookies.jar = .none
                        $0.caching.cache = .none
                    }
                    #expect(other.source == .network)
                }
                #expect(!isOver.withLock { $0 })
                close(lock)
                #expect(try await waiting == .network)
                #expect(scene.origin.seen("/wants").map { $0.fields["cookie"] } == ["a=1"])
                #expect(coordinator.cookies.problem == nil)
            }
        }
    }

    @Test("the terminal stops workers between their writes, so that nobody waits for them")
    func suspended() async throws {
        func state(_ pid: pid_t) -> Character? {
            guard let text = try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8) else { return nil }
            return text[text.index(text.lastIndex(of: ")") ?? text.startIndex, offsetBy: 2)...].first
        }
        let directory = try TemporaryDirectory()
        let store = directory.file("store")
        let results = directory.file("results")
        try await withOrigin { origin in
            let lines = (0..<200_000).map { origin.url(fresh("/bytes/4000?seed=\($0 % 1000)&n=\($0)")) }
            try directory.put("list", Array(lines.joined(separator: "\n").utf8))
            let process = Process()
            process.executableURL = URL(fileURLWithPath: try BuiltProducts.trawl())
            process.arguments =
                ["batch", "--store", store, "--cache-size", "32M", "-q", "--progress", "none", "--no-files"]
                + ["--workers", "2", "--results", results, directory.file("list")]
            // It is killed, and what it leaves is to go with the test.
            process.environment = ProcessInfo.processInfo.environment.merging(["TMPDIR": directory.path]) { $1 }
            process.standardInput = FileHandle.nullDevice
            process.standardOutput = FileHandle.nullDevice
            process.standardError = FileHandle.nullDevice
            try process.run()
            let pid = process.processIdentifier
            defer {
                kill(pid, SIGKILL)
                kill(pid, SIGCONT)
                process.waitUntilExit()
            }
            // Some hundred records.
            #expect(await eventually(within: .seconds(60)) { directory.content("results")?.count ?? 0 > 100_000 })
            let workers = ProcessTree.children(of: pid)
            let hammer = try Hammer("cache-turns", store + "/cache")
            #expect(hammer.line() == "ready")
            // A write has a second to end in, which a busy machine may miss.
            var missed: [String] = []
            for _ in 0..<40 {
                kill(pid, SIGTSTP)
                #expect(await eventually { ([pid] + workers).allSatisfy { state($0) == "T" } })
                let answer = hammer.ask()
                if answer != "done" { missed.append(answer) }
                kill(pid, SIGCONT)
                #expect(await eventually { ([pid] + workers).allSatisfy { state($0) != "T" } })
                #expect(hammer.ask() == "done")
            }
            #expect(missed.count <= 2, "\(missed)")
        }
    }
}
