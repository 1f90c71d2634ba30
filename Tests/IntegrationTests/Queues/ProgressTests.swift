import Foundation
import Glibc
import Testing
import Trawl
import TrawlFoundation

@Suite("Progress, ASI-PROG-01…10, ULS-TASK-10", .timeLimit(.minutes(2)))
struct ProgressTests {
    private static func body(_ count: Int) -> String { String(repeating: "x", count: count) }

    @Test("of one fetch: at most four values a second, and always a last one (ASI-PROG-01, 08, ULS-LIFE-10)")
    func single() async throws {
        try await withQueueScene(
            adjust: { $0.bandwidth = BandwidthLimit(1 << 19) },
            answering: { _ in ScriptedOrigin.Answer(200, Self.body(1_500_000)) }
        ) { scene in
            let clock = ContinuousClock()
            let begin = clock.now
            let fetch = scene.coordinator.start(scene.request("/"), into: .discard)
            var values: [TransferProgress] = []
            for await progress in fetch.progress { values.append(progress) }
            let quarters = Int((clock.now - begin) / .milliseconds(250))
            #expect(values.count > 2 && values.count <= quarters + 2)
            let last = try #require(values.last)
            #expect(last.isComplete && last.download.fraction == 1 && last.download.remaining == .zero)
            #expect(last.download.completed == 1_500_000 && last.download.total == 1_500_000)
            #expect(last.decoded == 1_500_000 && last.upload == .nothing)
            let middle = try #require(values.dropLast().last)
            #expect(!middle.isComplete && middle.download.total == 1_500_000)
            #expect((200_000...3_000_000).contains(middle.download.bytesPerSecond))
            #expect(middle.download.remaining != nil && (middle.download.fraction ?? 0) > 0)
            // Asked for when all is over it says so.
            var again: [TransferProgress] = []
            for await progress in fetch.progress { again.append(progress) }
            #expect(again.map(\.download.completed) == [1_500_000] && again.first?.isComplete == true)
        }
    }

    @Test("a length that is not told is -1; decoded against wire bytes (ASI-PROG-10)")
    func unknown() async throws {
        let gate = Occasion()
        try await withQueueScene(answering: { seen in
            var answer = ScriptedOrigin.Answer(200, Self.body(5000))
            if seen.target == "/chunked" { answer.framing = .chunked }
            if seen.target == "/open" {
                answer.framing = .close
                answer.rest = (Array("rest".utf8), gate)
            }
            return answer
        }) { scene in
            defer { gate.open() }
            let open = scene.coordinator.start(scene.request("/open"), into: .discard)
            let isKnown = await eventually { open.currentProgress.download.completed == 5000 }
            #expect(isKnown && open.currentProgress.download.total == -1)
            #expect(open.currentProgress.download.fraction == nil && open.currentProgress.download.remaining == nil)
            gate.open()
            _ = try await open.response
            #expect(open.currentProgress.download.completed == 5004 && open.currentProgress.download.fraction == 1)
            let chunked = scene.coordinator.start(scene.request("/chunked"), into: .discard)
            _ = try await chunked.response
            #expect(chunked.currentProgress.decoded == 5000 && chunked.currentProgress.download.fraction == 1)
            #expect(chunked.currentProgress.download.completed > 5000)
        }
        try await withOrigin { origin in
            try await withTestCoordinator { coordinator in
                let fetch = coordinator.start(Request(origin.url("/gzip")))
                let response = try await fetch.response
                let progress = fetch.currentProgress
                #expect(progress.decoded == Int64(response.body.count))
                if let length = response.expectedLength { #expect(progress.download.completed == Int64(length)) }
                #expect(progress.download.completed != progress.decoded)
            }
        }
    }

    /// In a process of its own, whose children are the workers of its one coordinator.
    @Test("bytes that a worker had when it died do not count twice (ASI-PROG-06)")
    func lostWorker() async {
        await #expect(processExitsWith: .success) { try await Self.loseWorker() }
    }

    private static func loseWorker() async throws {
        let gate = Occasion()
        try await withQueueScene(answering: { seen in
            var answer = ScriptedOrigin.Answer(200, Self.body(4000))
            if seen.number == 1 {
                answer.rest = (Array(Self.body(4000).utf8), gate)
            } else {
                answer.body += answer.body
            }
            return answer
        }) { scene in
            let queue = scene.queue { $0.progress = .accurate }
            let (events, steps) = (queue.events, queue.byteSteps)
            queue.start()
            queue.add(scene.request("/big"))
            let isHalf = await eventually { queue.currentProgress.download.completed == 4000 }
            for child in ProcessTree.children() { kill(child, SIGKILL) }
            let words = await eventsToEnd(events).map { word($0) }
            let isWhole = queue.currentProgress.download.completed == 8000
            gate.open()
            queue.reset()
            var back: [Int64] = []
            for await step in steps where step.moved < 0 { back.append(step.moved) }
            expectInChild(isHalf && isWhole, "half \(isHalf), whole \(isWhole)")
            expectInChild(back == [-4000] && words.contains("finished 200"), "\(back) \(words)")
            expectInChild(words.count { $0 == "head 200" } == 1, "\(words)")
        }
    }

    /// Progress of a fetch whose handle is let go of when this returns.
    private func progress(
        of request: Request, in queue: FetchQueue, lettingGoWhen isDue: () -> Bool
    ) async -> AsyncStream<TransferProgress> {
        let added = queue.add(request, into: .discard)
        let values = added.fetch.progress
        let isReached = await eventually { isDue() }
        #expect(isReached)
        withExtendedLifetime(added) {}
        return values
    }

    private func lastValue(of values: AsyncStream<TransferProgress>) async -> TransferProgress? {
        var last: TransferProgress?
        for await value in values { last = value }
        return last
    }

    @Test("of a queue's fetch it ends with the last value, though its handle is let go of", arguments: [false, true])
    func withoutHandle(isRunning: Bool) async throws {
        let gate = Occasion()
        try await withQueueScene(answering: { _ in
            gate.wait()
            return ScriptedOrigin.Answer(200, Self.body(3000))
        }) { scene in
            defer { gate.open() }
            let queue = scene.queue()
            if isRunning { queue.start() }
            let values = await progress(of: scene.request("/"), in: queue) { !isRunning || scene.targets.count == 1 }
            queue.start()
            gate.open()
            let last = await lastValue(of: values)
            #expect(last?.isComplete == true && last?.download.completed == 3000, "\(String(describing: last))")
        }
    }

    @Test("of a fetch that waits in a queue that is let go of it ends, too")
    func withoutQueue() async throws {
        try await withQueueScene { scene in
            let values = await progress(of: scene.request("/"), in: scene.queue()) { true }
            let last = await lastValue(of: values)
            #expect(last?.isComplete == true && scene.targets.isEmpty, "\(String(describing: last))")
        }
    }

    @Test("as Foundation's Progress, cancelling cancels a fetch whose handle is let go of", arguments: [false, true])
    func cancelledWithoutHandle(isQueued: Bool) async throws {
        let gate = Occasion()
        try await withQueueScene(answering: { _ in
            gate.wait()
            return ScriptedOrigin.Answer(200, Self.body(3000))
        }) { scene in
            defer { gate.open() }
            let destination = Destination.file(scene.output + "/body")
            let queue = scene.queue()
            queue.start()
            let progress =
                isQueued
                ? queue.add(scene.request("/"), into: destination).fetch.foundationProgress()
                : scene.coordinator.start(scene.request("/"), into: destination).foundationProgress()
            #expect(await eventually { scene.targets.count == 1 })
            progress.cancel()
            // The origin holds its answer: the fetch ends by this alone.
            for await count in scene.coordinator.activeCount where count == 0 { break }
            #expect(await eventually { queue.pendingCount == 0 })
            gate.open()
            let names = try scene.directory.names()
            #expect(names == ["out"])
        }
    }

    @Test("as Foundation's Progress (ASI-PROG-01)")
    func foundation() async throws {
        let gate = Occasion()
        try await withQueueScene(answering: { seen in
            if seen.target == "/held" { gate.wait() }
            return ScriptedOrigin.Answer(200, Self.body(3000))
        }) { scene in
            defer { gate.open() }
            let fetch = scene.coordinator.start(scene.request("/"))
            let progress = fetch.foundationProgress()
            _ = try await fetch.response
            #expect(await eventually { progress.completedUnitCount == 3000 && progress.fractionCompleted == 1 })
            let queue = scene.queue()
            let held = queue.add(scene.request("/held"))
            let whole = queue.foundationProgress()
            queue.start()
            whole.cancel()
            await failure(.cancelled) { try await held.response }
        }
    }

    @Test("as Foundation's Progress for what is sent, too (ASI-PROG-01)")
    func foundationUpload() async throws {
        let length: Int64 = 60_000
        try await withQueueScene { scene in
            // A minute for the body.
            scene.coordinator.setBandwidthLimit(BandwidthLimit(download: 0, upload: 1000))
            var request = scene.request("/put")
            request.method = .put
            request.body = .bytes([UInt8](repeating: 1, count: Int(length)))
            let fetch = scene.coordinator.start(request)
            let sent = fetch.foundationProgress(of: .upload)
            let received = fetch.foundationProgress()
            let isUnderWay = await eventually {
                sent.totalUnitCount == length && sent.completedUnitCount > 0 && sent.completedUnitCount < length
            }
            #expect(isUnderWay && received.completedUnitCount == 0)
            scene.coordinator.setBandwidthLimit(.none)
            _ = try await fetch.response
            #expect(await eventually { sent.completedUnitCount == length && sent.fractionCompleted == 1 })
            #expect(await eventually { received.fractionCompleted == 1 })
        }
    }

    @Test("a simple queue counts fetches: a quarter for each of four (ASI-PROG-02)")
    func simple() async throws {
        let gates = (0..<4).map { _ in Occasion() }
        defer { for gate in gates { gate.open() } }
        try await withQueueScene(answering: { seen in
            if let number = Int(seen.target.dropFirst()) { gates[number].wait() }
            return ScriptedOrigin.Answer(200, Self.body(1000))
        }) { scene in
            let queue = scene.queue { $0.width = 1 }
            let (events, values) = (queue.events, queue.progress)
            let ids = (0..<4).map { number in queue.add(scene.request("/\(number)"), into: .discard).id }
            #expect(queue.currentProgress.download.total == 4 && queue.currentProgress.download.fraction == 0)
            queue.start()
            gates[0].open()
            var finished = 0
            for await event in events {
                if case .queueFinished = event { break }
                guard case .finished(let id, _) = event else { continue }
                finished += 1
                // The next one is held.
                let fraction = try #require(queue.currentProgress.download.fraction)
                #expect(id == ids[finished - 1] && fraction == Double(finished) / 4)
                if finished < 4 { gates[finished].open() }
            }
            #expect(finished == 4 && queue.currentProgress.isComplete)
            for await progress in values where progress.isComplete {
                #expect(progress.download.completed == 4)
                break
            }
        }
    }

    @Test("an accurate queue asks for sizes by HEAD before, but not of what comes later or is no GET (ASI-PROG-03)")
    func sizing() async throws {
        let gate = Occasion()
        try await withQueueScene(answering: { seen in
            if seen.method == "GET" { gate.wait() }
            if seen.method == "HEAD", seen.target == "/refused" { return ScriptedOrigin.Answer(405, "") }
            return ScriptedOrigin.Answer(200, Self.body(1000))
        }) { scene in
            let queue = scene.queue {
                $0.progress = .accurate
                $0.width = 2
            }
            let events = queue.events
            for number in 0..<4 { queue.add(scene.request("/\(number)")) }
            queue.add(scene.request("/refused"))
            queue.add(scene.request("/post") { $0.method = .post })
            queue.start()
            #expect(await eventually { scene.origin.seen().count == 8 })
            #expect(await eventually { queue.currentProgress.download.total == 5001 })
            queue.add(scene.request("/late"))
            gate.open()
            _ = await eventsToEnd(events)
            let heads = scene.targets.filter { $0.hasPrefix("HEAD") }
            #expect(heads.sorted() == ["HEAD /0", "HEAD /1", "HEAD /2", "HEAD /3", "HEAD /refused"])
            #expect(scene.targets.count == 12)
            for target in heads.map({ $0.dropFirst(5) }) {
                let (head, get) = (
                    scene.targets.firstIndex(of: "HEAD " + target), scene.targets.firstIndex(of: "GET " + target)
                )
                #expect((head ?? .max) < (get ?? 0))
            }
            // Six sizes in bytes, and one as a unit.
            let progress = queue.currentProgress.download
            #expect(progress.completed == progress.total && progress.fraction == 1 && progress.total == 6001)
            // Nothing is told of who asks for a size.
            #expect(await scene.coordinator.status()?.done == 7)
        }
    }

    @Test("of a download that is gone on with the whole counts, also while its rest comes (ASI-PROG-03)")
    func rest() async throws {
        let gate = Occasion()
        let site = ResumeScene.Site { seen in
            guard let first = seen.fields["range"].flatMap({ Int($0.dropFirst(6).dropLast()) }) else { return nil }
            var answer = ScriptedOrigin.Answer(206)
            answer.fields = [("ETag", "\"one\""), ("Content-Range", "bytes \(first)-399999/400000")]
            answer.body = Array(ResumeScene.content[first..<300_000])
            answer.rest = (Array(ResumeScene.content[300_000...]), gate)
            return answer
        }
        try await withQueueScene(answering: { site.answer($0) }) { scene in
            defer { gate.open() }
            let path = scene.directory.file("x")
            let (_, data) = await ResumeScene.broken(scene.coordinator, scene.origin.url("/x"), path)
            var options = ResumeScene.keeping
            options.resumeData = data
            let queue = scene.queue { $0.progress = .accurate }
            let events = queue.events
            queue.add(scene.request("/x"), into: .file(path, options: options))
            queue.start()
            let isHeld = await eventually { queue.currentProgress.download.completed == 300_000 }
            #expect(isHeld && scene.targets == ["GET /x", "HEAD /x", "GET /x"])
            #expect(queue.currentProgress.download.total == 400_000)
            gate.open()
            let words = await eventsToEnd(events).map { word($0) }
            #expect(words.contains("finished 206"), "\(words)")
            let progress = queue.currentProgress.download
            #expect(progress.completed == 400_000 && progress.total == 400_000)
        }
    }

    @Test("a HEAD that the cache answers has no body either")
    func storedHEAD() async throws {
        let answer: @Sendable (ScriptedOrigin.Seen) -> ScriptedOrigin.Answer = { _ in
            ScriptedOrigin.Answer(200, Self.body(5000), [("Cache-Control", "max-age=60")])
        }
        try await withScene(answering: answer) { scene, coordinator in
            let url = scene.origin.url("/page")
            _ = try await coordinator.send(Request(url))
            let fetch = coordinator.start(Request(.head, url))
            let response = try await fetch.response
            let download = fetch.currentProgress.download
            #expect(response.source == .cache && download.completed == 0 && download.total == 0)
        }
    }

    @Test("a size is asked for with the fields of its fetch, and 501 is taken as 405 is")
    func sizingFields() async throws {
        try await withQueueScene(answering: { seen in
            ScriptedOrigin.Answer(seen.method == "HEAD" && seen.target == "/refused" ? 501 : 200, Self.body(1000))
        }) { scene in
            let queue = scene.queue { $0.progress = .accurate }
            let events = queue.events
            for target in ["/plain", "/refused"] { queue.add(scene.request(target) { $0.fields["X-Mine"] = "mine" }) }
            // A form that turned out to be empty.
            queue.add(
                scene.request("/empty") {
                    $0.fields["X-Mine"] = "mine"
                    $0.body = .text("")
                })
            queue.start()
            let words = await eventsToEnd(events).map { word($0) }
            #expect(words.count { $0 == "finished 200" } == 3, "\(words)")
            let asked = ["/empty", "/plain", "/refused"]
            #expect(scene.targets.sorted() == asked.map { "GET " + $0 } + asked.map { "HEAD " + $0 })
            #expect(scene.origin.seen().allSatisfy { $0.fields["x-mine"] == "mine" })
        }
    }

    @Test("a size is asked for without content codings, whose length some servers get wrong (ASI-GZ-05)")
    func identity() async throws {
        let gate = Occasion()
        try await withQueueScene(answering: { seen in
            var answer = ScriptedOrigin.Answer(200, Self.body(5000))
            guard seen.method == "HEAD" else {
                gate.wait()
                return answer
            }
            // As Apache's mod_deflate has it for what a program writes.
            let isCoded = seen.fields["accept-encoding"]?.contains("gzip") ?? true
            answer.announced = isCoded ? 20 : 5000
            return answer
        }) { scene in
            defer { gate.open() }
            let queue = scene.queue { $0.progress = .accurate }
            for target in ["/a", "/b"] { queue.add(scene.request(target), into: .discard) }
            queue.add(scene.request("/own") { $0.fields["Accept-Encoding"] = "gzip" }, into: .discard)
            let events = queue.events
            queue.start()
            let areSized = await eventually { scene.targets.count == 6 }
            #expect(areSized)
            let asked = scene.origin.seen().filter { $0.method == "HEAD" }.map { $0.fields["accept-encoding"] }
            #expect(asked.count == 3 && asked.count { $0 == "identity" } == 2 && asked.contains("gzip"), "\(asked)")
            #expect(queue.currentProgress.download.total == 5000 + 5000 + 20)
            gate.open()
            _ = await eventsToEnd(events)
            #expect(queue.currentProgress.download.total == 15_000)
        }
    }

    @Test("what is added late moves the whole back, unless that is not wanted (ASI-PROG-04)", arguments: [false, true])
    func late(isMonotonic: Bool) async throws {
        let gate = Occasion()
        try await withQueueScene(answering: { seen in
            var answer = ScriptedOrigin.Answer(200, Self.body(1000))
            if seen.target.hasPrefix("/late") {
                (answer.announced, answer.body) = (1000, [])
                answer.rest = (Array(Self.body(1000).utf8), after: gate)
            }
            return answer
        }) { scene in
            let queue = scene.queue {
                $0.progress = .accurate
                $0.isProgressMonotonic = isMonotonic
            }
            var events = queue.events
            for number in 0..<5 { queue.add(scene.request("/\(number)")) }
            queue.start()
            _ = await eventsToEnd(events)
            #expect(queue.currentProgress.download.fraction == 1)
            events = queue.events
            for number in 0..<5 { queue.add(scene.request("/late\(number)")) }
            // Their heads say how long they are.
            let isSized = await eventually { queue.currentProgress.download.total > 5000 }
            #expect(isSized)
            let fraction = try #require(queue.currentProgress.download.fraction)
            #expect(isMonotonic ? fraction == 1 : fraction < 1, "\(fraction)")
            gate.open()
            _ = await eventsToEnd(events)
            let progress = queue.currentProgress.download
            #expect(progress.total == 10_000 && progress.completed == 10_000 && progress.fraction == 1)
        }
    }

    @Test("a response without a length counts as one; redirects are no reason for that (ASI-PROG-05)")
    func fallback() async throws {
        try await withQueueScene(answering: { seen in
            if seen.target == "/moved" { return ScriptedOrigin.Answer(302, "go", [("Location", "/sized")]) }
            var answer = ScriptedOrigin.Answer(200, Self.body(1000))
            if seen.target == "/chunked" { answer.framing = .chunked }
            return answer
        }) { scene in
            let queue = scene.queue { $0.progress = .accurate }
            let events = queue.events
            for target in ["/chunked", "/moved"] { queue.add(scene.request(target)) }
            queue.start()
            _ = await eventsToEnd(events)
            let progress = queue.currentProgress
            #expect(progress.download.total == 1001 && progress.download.fraction == 1 && progress.decoded == 2000)
        }
    }

    @Test("an upload that a challenge refuses goes back, and is sent again (ASI-PROG-06, 09, ASI-RUN-03, ULS-LIFE-09)")
    func upload() async throws {
        let right = ChallengingOrigin.basic("me", "pass")
        try await withQueueScene(answering: ChallengingOrigin.taking(right)) { scene in
            let queue = scene.queue()
            let (events, steps) = (queue.events, queue.byteSteps)
            let fetch = queue.add(
                scene.request("/upload") {
                    $0.body = .bytes([UInt8](repeating: 7, count: 200_000))
                    $0.options.authentication.allowsClearText = true
                    $0.options.authentication.credential = Credential(user: "me", password: "pass")
                })
            queue.start()
            let response = try await fetch.response
            #expect(response.bodyText == "welcome /upload")
            _ = await eventsToEnd(events)
            queue.reset()
            var moved: [Int64] = []
            var size: Int64 = 0
            for await step in steps where step.direction == .upload {
                #expect(step.fetch == fetch.id)
                if step.moved != 0 { moved.append(step.moved) }
                size += step.size
            }
            // Of several steps in one direction nothing is known but their sum.
            #expect(moved.reduce(0, +) == 200_000 && size == 200_000)
            #expect(moved.filter { $0 < 0 } == [-200_000])
            #expect(moved.prefix { $0 > 0 }.reduce(0, +) == 200_000)
            let progress = fetch.fetch.currentProgress
            #expect(progress.upload.completed == 200_000 && progress.upload.fraction == 1)
        }
    }
}
