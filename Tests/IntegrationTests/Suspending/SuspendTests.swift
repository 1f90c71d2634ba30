import Foundation
import Glibc
import TestSupport
import Testing
import Trawl

@Suite("Fetches that are suspended and resumed, ULS-TASK-06, ULS-LIFE-03", .timeLimit(.minutes(2)))
struct SuspendTests {
    @Test("one that starts suspended sends nothing before it is resumed as often as it was suspended")
    func startsSuspended() async throws {
        let scene = try SuspendScene()
        try await withTestCoordinator { configuration in
            // It takes no place from others of its host either.
            configuration.connectionsPerHost = 1
        } _: { coordinator in
            let fetch = coordinator.start(Request(scene.origin.url("/first")), suspended: true)
            #expect(fetch.state == .suspended)
            fetch.suspend()
            _ = try await coordinator.send(Request(scene.origin.url("/second")))
            fetch.resume()
            #expect(fetch.state == .suspended)
            _ = try await coordinator.send(Request(scene.origin.url("/third")))
            #expect(scene.origin.seen("/first").isEmpty)
            fetch.resume()
            #expect(fetch.state != .suspended)
            let text = try await fetch.response.bodyText
            #expect(text == "short" && fetch.state == .completed)
            // What is over stays over.
            fetch.suspend()
            fetch.resume()
            fetch.resume()
            #expect(fetch.state == .completed)
        }
    }

    @Test(
        "while it is suspended nothing is read, and no limit of time runs; resumed, the same connection goes on",
        arguments: Engine.allCases)
    func rests(engine: Engine) async throws {
        let scene = try SuspendScene()
        try await withTestCoordinator(workers: engine.workers) { coordinator in
            // Nobody starts within the limits.
            _ = try await coordinator.send(Request(scene.origin.url("/before")))
            let (fetch, course) = try await scene.halfway(coordinator) { request in
                request.options.timeLimits.resource = .seconds(5)
                request.options.timeLimits.inactivity = .seconds(4)
            }
            fetch.suspend()
            #expect(fetch.state == .suspended)
            // Later than its suspension: both come to the same thread, in order.
            _ = try await coordinator.send(Request(scene.origin.url("/other")))
            // Longer than both limits.
            if engine == .workers { try await Task.sleep(for: .milliseconds(5100)) }
            scene.goesOn.open()
            let isWaiting = await eventually {
                ProcessTree.unreadBytes(ofConnectionsTo: scene.origin.port).values.contains { $0 > 50_000 }
            }
            #expect(isWaiting)
            let progress = fetch.currentProgress
            #expect(progress.download.completed == Int64(SuspendScene.half) && progress.download.total == 3_000_000)
            #expect(fetch.state == .suspended)
            fetch.resume()
            let result = await course.value
            #expect(result.response?.body.bytes == SuspendScene.content, "\(String(describing: result.error))")
            #expect(scene.asked == [nil])
        }
    }

    enum Sink: CaseIterable {
        case memory, discard, stream, file, kept, rooted
    }

    @Test(
        "suspended for long it gives its connection up, and goes on behind what has come", arguments: Sink.allCases,
        Engine.allCases)
    func givesUp(sink: Sink, engine: Engine) async throws {
        let scene = try SuspendScene()
        let directory = try TemporaryDirectory()
        let root = try directory.makeDirectory("root")
        try await withTestCoordinator(workers: engine.workers, outputDirectories: [root]) { configuration in
            configuration.suspendedConnectionLifetime = .milliseconds(50)
        } _: { coordinator in
            var kept = Destination.FileOptions()
            kept.keepsPart = true
            let destination: Destination =
                switch sink {
                case .memory: .memory
                case .discard: .discard
                case .stream: .stream
                case .file: .file(directory.file("x"))
                case .kept: .file(directory.file("x"), options: kept)
                case .rooted: .file(root + "/x")
                }
            let (fetch, course) = try await scene.halfway(coordinator, into: destination)
            try await scene.suspendForLong(fetch)
            #expect(fetch.state == .suspended)
            fetch.resume()
            let result = await course.value
            let response = try #require(result.response, "\(String(describing: result.error))")
            // The caller need not know.
            #expect(response.status == 200 && response.receivedLength == UInt64(SuspendScene.content.count))
            let offset = try #require(scene.asked.last ?? nil)
            // What a stream's reader has no room for goes with the connection.
            #expect(
                scene.asked.count == 2
                    && (sink == .stream ? 1...SuspendScene.half ~= offset : offset == SuspendScene.half))
            #expect(result.words == ["started", "attempt 1", "head 200", "attempt 2", "resumed at \(offset)"])
            #expect(fetch.currentProgress.download.completed == 3_000_000)
            switch sink {
            case .memory: #expect(response.body.bytes == SuspendScene.content)
            case .discard: break
            case .stream: #expect(result.streamed == SuspendScene.content)
            case .file, .kept: #expect(directory.content("x") == SuspendScene.content)
            case .rooted: #expect(directory.content("root/x") == SuspendScene.content)
            }
        }
        let names = try directory.names()
        #expect(names.count <= 2, "\(names)")
    }

    @Test(
        "what cannot be gone on with begins anew; a stream, whose reader has some of it, fails",
        arguments: [
            SuspendScene.Site(ranges: nil), .init(tag: nil), .init(tag: "W/\"weak\""),
            .init(later: ReferenceBytes.bytes(5000, seed: 12)), .init(partStatus: 416),
            .init(partLength: .max),
        ])
    func beginsAnew(site: SuspendScene.Site) async throws {
        let whole = site.later ?? SuspendScene.content
        for destination in ["memory", "stream", "file", "root/x"] {
            let scene = try SuspendScene(site)
            let directory = try TemporaryDirectory()
            let root = try directory.makeDirectory("root")
            try await withTestCoordinator(outputDirectories: [root]) { configuration in
                configuration.suspendedConnectionLifetime = .milliseconds(50)
            } _: { coordinator in
                let sink: Destination =
                    switch destination {
                    case "memory": .memory
                    case "stream": .stream
                    default: .file(directory.file(destination))
                    }
                let (fetch, course) = try await scene.halfway(coordinator, into: sink)
                try await scene.suspendForLong(fetch)
                fetch.resume()
                let result = await course.value
                if destination == "stream" {
                    #expect(result.error?.code == .connectionLost, "\(site)")
                    #expect(SuspendScene.content.starts(with: result.streamed) && !result.streamed.isEmpty)
                    return
                }
                let response = try #require(result.response, "\(site) \(String(describing: result.error))")
                #expect(response.status == 200)
                let bytes = sink == .memory ? response.body.bytes : directory.content(destination)
                #expect(bytes == whole, "\(site), \(destination)")
            }
        }
    }

    @Test("a request that must not be repeated fails when its connection is given up, unless it may be")
    func posts() async throws {
        for mayRepeat in [false, true] {
            let scene = try SuspendScene()
            try await withTestCoordinator { configuration in
                configuration.suspendedConnectionLifetime = .milliseconds(50)
            } _: { coordinator in
                let (fetch, course) = try await scene.halfway(coordinator) { request in
                    request.method = .post
                    request.body = .text("x")
                    request.options.retry.repeatsAnyMethod = mayRepeat
                }
                try await scene.suspendForLong(fetch)
                if mayRepeat { fetch.resume() }
                let result = await course.value
                #expect(scene.asked.count == (mayRepeat ? 2 : 1))
                if mayRepeat {
                    #expect(result.response?.body.bytes == SuspendScene.content)
                } else {
                    #expect(result.error?.code == .connectionLost && result.error?.isRetryable == false)
                }
            }
        }
    }

    @Test("one that gave its connection up holds no place of a worker")
    func freesPlace() async throws {
        let scene = try SuspendScene()
        try await withTestCoordinator(workers: 1) { configuration in
            configuration.transfersPerWorker = 1
            configuration.suspendedConnectionLifetime = .milliseconds(50)
        } _: { coordinator in
            let (fetch, course) = try await scene.halfway(coordinator)
            fetch.suspend()
            _ = try await coordinator.send(Request(scene.origin.url("/other")))
            #expect(fetch.state == .suspended)
            fetch.resume()
            #expect(await course.value.response?.body.bytes == SuspendScene.content)
        }
    }

    @Test("a stream nobody reads gets no more room by being suspended", arguments: Engine.allCases)
    func unreadStream(engine: Engine) async throws {
        let scene = try SuspendScene()
        let window = 256 << 10
        try await withTestCoordinator(workers: engine.workers) { configuration in
            configuration.suspendedConnectionLifetime = .milliseconds(1)
        } _: { coordinator in
            let fetch = coordinator.start(Request(scene.origin.url("/file")), into: .stream)
            for count in 1...5 {
                #expect(await eventually { scene.asked.count == count })
                #expect(await eventually { fetch.currentProgress.download.completed >= window })
                try await scene.suspendForLong(fetch)
                fetch.resume()
            }
            #expect(await eventually { scene.asked.count == 6 })
            #expect(scene.asked.compactMap { $0 }.allSatisfy { $0 <= window }, "\(scene.asked)")
            // All of it comes once it is read.
            let course = await SuspendedCourse(of: fetch)
            #expect(course.streamed == SuspendScene.content)
        }
    }

    @Test("again and again, it goes on each time")
    func repeatedly() async throws {
        let scene = try SuspendScene()
        let directory = try TemporaryDirectory()
        try await withTestCoordinator { configuration in
            configuration.suspendedConnectionLifetime = .milliseconds(1)
        } _: { coordinator in
            for (number, sink) in [Destination.memory, .stream, .file(directory.file("x"))].enumerated() {
                // As slow as it needs to be to be suspended in the middle.
                coordinator.setBandwidthLimit(BandwidthLimit(6_000_000))
                let fetch = coordinator.start(Request(scene.origin.url("/file?\(number)")), into: sink)
                let course = Task { await SuspendedCourse(of: fetch) }
                scene.goesOn.open()
                let seed = UInt64.random(in: 0 ... .max)
                var random = SeededGenerator(seed: seed)
                for _ in 0..<12 {
                    try await Task.sleep(for: .milliseconds(.random(in: 1...40, using: &random)))
                    fetch.suspend()
                    try await Task.sleep(for: .milliseconds(.random(in: 0...20, using: &random)))
                    fetch.resume()
                }
                let result = await course.value
                let error = String(describing: result.error)
                let response = try #require(result.response, "\(sink), seed \(seed): \(error)")
                let bytes: [UInt8]? =
                    switch sink {
                    case .memory: response.body.bytes
                    case .stream: result.streamed
                    default: directory.content("x")
                    }
                #expect(bytes == SuspendScene.content, "\(sink), seed \(seed): \(result.words)")
            }
        }
    }

    @Test("it can be cancelled, and its coordinator be shut down, at any point")
    func ends() async throws {
        for lifetime in [Duration.seconds(300), .milliseconds(50)] {
            for isCancelled in [true, false] {
                let scene = try SuspendScene()
                let directory = try TemporaryDirectory()
                let clock = ContinuousClock()
                let begun = clock.now
                try await withTestCoordinator { configuration in
                    configuration.suspendedConnectionLifetime = lifetime
                    configuration.shutdownGrace = .seconds(60)
                } _: { coordinator in
                    let waiting = coordinator.start(Request(scene.origin.url("/waiting")), suspended: true)
                    let (fetch, course) = try await scene.halfway(coordinator, into: .file(directory.file("x")))
                    fetch.suspend()
                    if lifetime < .seconds(1) { try await scene.suspendForLong(fetch) }
                    if isCancelled {
                        for fetch in [waiting, fetch] { fetch.cancel() }
                    } else {
                        await coordinator.shutdown()
                    }
                    let code: FetchError.Code = isCancelled ? .cancelled : .shutDown
                    let result = await course.value
                    #expect(result.error?.code == code)
                    await #expect { try await waiting.response } throws: { ($0 as? FetchError)?.code == code }
                    #expect(fetch.state == .completed && waiting.state == .completed)
                }
                #expect(clock.now - begun < .seconds(45))
                let names = try directory.names()
                #expect(names.isEmpty, "\(names)")
            }
        }
    }

    @Test("its worker may die meanwhile: a stream goes on behind what was read, the rest begins anew")
    func workerDies() async throws {
        for sink in [Destination.memory, .stream] {
            let scene = try SuspendScene()
            let before = ProcessTree.children()
            try await withTestCoordinator(workers: 1) { coordinator in
                let (fetch, course) = try await scene.halfway(coordinator, into: sink)
                fetch.suspend()
                // Later than its suspension: both come to the same thread, in order.
                _ = try await coordinator.send(Request(scene.origin.url("/other")))
                for worker in ProcessTree.children() where !before.contains(worker) { kill(worker, SIGKILL) }
                _ = try await coordinator.send(Request(scene.origin.url("/another")))
                #expect(fetch.state == .suspended && scene.asked == [nil])
                fetch.resume()
                let result = await course.value
                let bytes = sink == .stream ? result.streamed : result.response?.body.bytes
                #expect(bytes == SuspendScene.content, "\(String(describing: result.error))")
                #expect(scene.asked.count == 2 && (scene.asked[1] != nil) == (sink == .stream))
            }
        }
    }

    @Test("fetches that wait for a host go by their priority, also when it changes")
    func priorities() async throws {
        let scene = try SuspendScene()
        try await withTestCoordinator(workers: 1) { configuration in
            configuration.connectionsPerHost = 1
        } _: { coordinator in
            let (first, course) = try await scene.halfway(coordinator)
            let fetches = ["/a", "/b", "/c", "/d"].map {
                coordinator.start(Request(scene.origin.url($0)), suspended: true)
            }
            #expect(Set(fetches.map(\.id)).count == 4 && !fetches.map(\.id).contains(first.id))
            for fetch in fetches {
                #expect(fetch.priority == 0.5 && fetch.label == nil)
                fetch.resume()
            }
            fetches[2].priority = 0.7
            fetches[3].priority = 1
            fetches[0].priority = 0
            fetches[3].label = "last"
            #expect(fetches[3].label == "last" && fetches[0].priority == 0)
            scene.goesOn.open()
            for fetch in fetches { _ = try await fetch.response }
            _ = await course.value
            #expect(scene.origin.seen().map(\.target) == ["/file", "/d", "/c", "/b", "/a"])
        }
    }

    @Test(
        "a fetch that identical ones wait for is as urgent as they are, also when that changes and when it is cancelled",
        arguments: [false, true], [false, true])
    func identicalPriorities(isRaisedLater: Bool, isCancelled: Bool) async throws {
        let held = Occasion()
        try await withScene(workers: 1, adjust: { $0.connectionsPerHost = 1 }) { request in
            if request.target == "/busy" { held.wait() }
            return page("one", to: request)
        } _: { scene, coordinator in
            defer { held.open() }
            let busy = coordinator.start(Request(scene.origin.url("/busy")))
            #expect(await eventually { scene.count == 1 })
            func start(_ number: Int, _ priority: Double) -> Fetch {
                let fetch = coordinator.start(Request(scene.origin.url("/\(number)")), suspended: true)
                fetch.priority = priority
                fetch.resume()
                return fetch
            }
            let fetches = (0..<20).map { start($0, 0) }
            let other = start(19, 0)
            let urgent = start(19, isRaisedLater ? 0 : 1)
            if isRaisedLater { urgent.priority = 1 }
            if isCancelled { fetches[19].cancel() }
            held.open()
            #expect(try await urgent.response.bodyText == "one")
            #expect(try await other.response.bodyText == "one")
            _ = try await busy.response
            for fetch in fetches.dropLast() { _ = try await fetch.response }
            if !isCancelled { _ = try await fetches[19].response }
            #expect(scene.targets == ["/busy", "/19"] + (0..<19).map { "/\($0)" })
        }
    }

    @Test("fetches of a queue can be suspended, those that wait and those that run")
    func queued() async throws {
        let scene = try SuspendScene()
        try await withTestCoordinator { configuration in
            configuration.suspendedConnectionLifetime = .milliseconds(50)
        } _: { coordinator in
            let queue = FetchQueue(on: coordinator)
            let waiting = queue.add(Request(scene.origin.url("/waiting")))
            let running = queue.add(Request(scene.origin.url("/file")))
            waiting.fetch.suspend()
            queue.start()
            let isHalfway = await eventually {
                running.fetch.currentProgress.download.completed == Int64(SuspendScene.half)
            }
            #expect(isHalfway)
            try await scene.suspendForLong(running.fetch)
            #expect(scene.origin.seen("/waiting").isEmpty)
            running.fetch.resume()
            waiting.fetch.resume()
            let bytes = try await running.response.body.bytes
            #expect(bytes == SuspendScene.content && scene.asked == [nil, SuspendScene.half])
            let text = try await waiting.response.bodyText
            #expect(text == "short")
        }
    }

    @Test("one of a queue that is suspended gives its place there to others, and waits for one when it is resumed")
    func queueWidth() async throws {
        let scene = try SuspendScene()
        let occasion = Occasion()
        let other = try ScriptedOrigin { request in
            if request.target == "/held" { occasion.wait() }
            return ScriptedOrigin.Answer(200, "short")
        }
        defer { occasion.open(); other.stop() }
        try await withTestCoordinator { coordinator in
            var settings = FetchQueue.Settings()
            settings.width = 1
            let queue = FetchQueue(on: coordinator, settings)
            let fetch = queue.add(Request(scene.origin.url("/file"))).fetch
            let held = queue.add(Request(other.url("/held")))
            let last = queue.add(Request(other.url("/last")))
            queue.start()
            let isHalfway = await eventually {
                fetch.currentProgress.download.completed == Int64(SuspendScene.half)
            }
            #expect(isHalfway && other.seen().isEmpty)
            fetch.suspend()
            let isNext = await eventually { !other.seen("/held").isEmpty }
            #expect(isNext)
            scene.goesOn.open()
            fetch.resume()
            // It waits for its turn: its connection stands, and nothing is read from it.
            #expect(fetch.state == .running)
            let isWaiting = await eventually {
                ProcessTree.unreadBytes(ofConnectionsTo: scene.origin.port).values.contains { $0 > 50_000 }
            }
            #expect(isWaiting && fetch.currentProgress.download.completed == Int64(SuspendScene.half))
            occasion.open()
            _ = try await held.response
            let bytes = try await fetch.response.body.bytes
            #expect(bytes == SuspendScene.content && scene.asked == [nil])
            _ = try await last.response
            #expect(queue.pendingCount == 0)
        }
    }

    @Test("one whose handle is let go of while it is suspended is cancelled")
    func letGo() async throws {
        let scene = try SuspendScene()
        try await withTestCoordinator { coordinator in
            _ = coordinator.start(Request(scene.origin.url("/first")), suspended: true)
            for await count in coordinator.activeCount where count == 0 { break }
            #expect(scene.origin.seen().isEmpty)
        }
    }
}
