import Foundation
import Glibc
import Testing
import Trawl

/// Where a fetch is when it is cancelled.
enum CancelledState: String, CaseIterable, Sendable {
    case suspended, waiting, sizing, coalesced, challenged, throttled, redirecting, script, writing, writingOutside
}

@Suite("Cancelling in every state ends once and leaves nothing, ASI-CAN-01…03", .timeLimit(.minutes(2)))
struct QueueCancelTests {
    private func origin(_ state: CancelledState, _ gate: Occasion)
        -> @Sendable (ScriptedOrigin.Seen) ->
        ScriptedOrigin.Answer
    {
        { seen in
            if seen.target == "/fine" { return ScriptedOrigin.Answer(200, "fine") }
            if seen.method == "HEAD" { gate.wait() }
            var answer = ScriptedOrigin.Answer(200, String(repeating: "x", count: 100_000))
            switch state {
            case .suspended, .waiting, .sizing, .script: gate.wait()
            case .coalesced: answer.fields = [("Cache-Control", "max-age=60")]
            case .challenged: return ChallengingOrigin.challenge()
            case .redirecting: return ScriptedOrigin.Answer(302, "", [("Location", "/fine")])
            case .throttled, .writing, .writingOutside: break
            }
            if state == .coalesced { gate.wait() }
            if state == .writing || state == .writingOutside { answer.rest = (answer.body, gate) }
            return answer
        }
    }

    private func add(
        to queue: FetchQueue, in state: CancelledState, _ scene: QueueScene, script: String
    ) -> [QueuedFetch] {
        (0..<2).map { number in
            var request = scene.request(state == .coalesced ? "/one" : "/\(number)")
            request.options.authentication.allowsClearText = true
            if state == .script { request.options.proxy = ProxyPolicy(script: script) }
            let destination: Destination =
                switch state {
                case .writing: .file(scene.output + "/\(number)")
                case .writingOutside: .file(scene.directory.file("outside\(number)"))
                default: .memory
                }
            return queue.add(request, into: destination)
        }
    }

    private func isReached(
        _ state: CancelledState, _ scene: QueueScene, _ fetches: [QueuedFetch], asked: Int
    ) -> Bool {
        let count = scene.origin.seen().count
        return switch state {
        case .suspended: true
        case .script: !ProcessTree.children(withArgument: "pac").isEmpty
        case .waiting, .coalesced: count == 1
        case .sizing: count == 2
        case .challenged: asked == 1 && count == 2
        case .redirecting: asked == 2
        case .throttled, .writing, .writingOutside:
            fetches.allSatisfy { $0.fetch.currentProgress.download.completed > 0 }
        }
    }

    private func expectCancelled(_ fetch: QueuedFetch) async {
        let error = await failure(.cancelled) { try await fetch.response }
        #expect(error?.legacyCode == 4)
        let ends = await allEvents(of: fetch.fetch).map(word).filter { $0 != "progress" }
        #expect(ends.last == "failed cancelled" && ends.count { $0 == "failed cancelled" } == 1)
        #expect(fetch.fetch.currentProgress.isComplete)
    }

    @Test("one queue of fetches in each state", arguments: CancelledState.allCases)
    func everywhere(state: CancelledState) async throws {
        let (gate, asked, answered) = (Occasion(), Locked(0), Gate(width: 0))
        let decider = QueueDecider(
            asked: asked,
            credential: {
                await answered.enter()
                return .useStored
            },
            redirect: {
                await answered.enter()
                return .follow
            })
        let store = try TemporaryDirectory()
        try await withQueueScene(
            adjust: {
                if state == .waiting { $0.connectionsPerHost = 1 }
                if state == .throttled { $0.bandwidth = BandwidthLimit(20_000) }
                if state == .coalesced { $0.store = .directory(store.file("store")) }
            }, answering: origin(state, gate)
        ) { scene in
            defer { gate.open() }
            let queue = scene.queue {
                $0.decisions = decider
                if state == .sizing { $0.progress = .accurate }
            }
            let events = queue.events
            let fetches = add(to: queue, in: state, scene, script: store.file("endless.pac"))
            if state == .script {
                try store.put("endless.pac", Array("function FindProxyForURL(u, h) { for (;;) {} }".utf8))
            }
            if state != .suspended { queue.start() }
            let isThere = await eventually { isReached(state, scene, fetches, asked: asked.withLock { $0 }) }
            #expect(isThere)
            queue.cancelAll()
            fetches[0].cancel()
            let words = await eventsToEnd(events).map { word($0) }
            #expect(words.count { $0 == "failed cancelled" } == 2 && words.count { $0.hasPrefix("finished") } == 0)
            #expect(words.count { $0 == "queue finished" } == 1 && words.last == "queue finished")
            for fetch in fetches { await expectCancelled(fetch) }
            for _ in fetches { answered.leave() }
            gate.open()
            if state == .script {
                let isOver = await eventually { ProcessTree.children(withArgument: "pac").isEmpty }
                #expect(isOver)
            }
            // Places, connections and files are free again.
            queue.start()
            var request = scene.request("/fine")
            request.options.isExemptFromBandwidthLimits = true
            #expect(try await queue.add(request).response.bodyText == "fine")
            let isClean = try await eventually {
                try !scene.directory.names().contains { $0.contains("outside") || $0.contains("out/") }
            }
            #expect(isClean)
        }
    }

    @Test("one that ends before its turn was never started, as its handle tells too")
    func neverStarted() async throws {
        try await withQueueScene { scene in
            let queue = scene.queue()
            let fetch = queue.add(scene.request("/waiting")).fetch
            queue.cancelAll()
            let words = await allEvents(of: fetch).map(word)
            #expect(words == ["failed cancelled"])
            #expect(scene.origin.seen().isEmpty)
        }
    }

    @Test("after a silent end nobody is told, and no other is cancelled (ASI-CAN-02)")
    func silently() async throws {
        let gate = Occasion()
        try await withQueueScene(answering: { seen in
            if seen.target != "/fine" { gate.wait() }
            return ScriptedOrigin.Answer(200, "fine")
        }) { scene in
            defer { gate.open() }
            let queue = scene.queue { $0.width = 2 }
            let events = queue.events
            let running = queue.add(scene.request("/running"))
            let waiting = queue.add(scene.request("/waiting"), priority: 0)
            let fine = queue.add(scene.request("/fine"))
            queue.start()
            #expect(await eventually { scene.origin.seen("/running").count == 1 })
            running.fetch.cancelSilently()
            waiting.fetch.cancelSilently()
            let names = [running.id: "running", waiting.id: "waiting", fine.id: "fine"]
            let words = await eventsToEnd(events).map { word($0, names) }
            #expect(!words.contains { $0.contains("failed") } && words.contains("fine finished 200"))
            #expect(words.last == "queue finished" && queue.pendingCount == 0)
            await failure(.cancelled) { try await running.response }
            await failure(.cancelled) { try await waiting.response }
            let rest = await allEvents(of: waiting.fetch).map(word)
            #expect(!rest.contains { $0.hasPrefix("failed") })
            let single = scene.coordinator.start(scene.request("/single"))
            single.cancelSilently()
            #expect(await !allEvents(of: single).map(word).contains { $0.hasPrefix("failed") })
        }
    }
}
