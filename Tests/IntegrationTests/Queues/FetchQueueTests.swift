import Foundation
import Testing
import Trawl

@Suite("Queues of a program, ASI-Q-01…10, AFC-10, 11", .timeLimit(.minutes(2)))
struct FetchQueueTests {
    @Test("starts suspended; starting twice does no harm; what is added later runs at once (ASI-Q-01, ASI-Q-03)")
    func suspended() async throws {
        try await withQueueScene { scene in
            let queue = scene.queue()
            let events = queue.events
            for number in 0..<3 { queue.add(scene.request("/\(number)")) }
            // What is asked for after them is answered, and nothing of the queue has come.
            _ = try await scene.coordinator.send(scene.request("/other"))
            #expect(scene.targets == ["GET /other"] && queue.isSuspended && queue.pendingCount == 3)
            queue.start()
            queue.start()
            #expect(await eventsToEnd(events).count == 10)
            #expect(Set(scene.targets) == ["GET /other", "GET /0", "GET /1", "GET /2"] && queue.pendingCount == 0)
            let late = try await queue.add(scene.request("/late")).response
            #expect(late.bodyText == "page /late")
            queue.suspend()
            queue.add(scene.request("/waits"))
            queue.resume()
            #expect(await eventually { scene.targets.last == "GET /waits" })
        }
    }

    /// One that asks its queue something at its end.
    private final class AskingDecider: FetchDecisions {
        private let queue: FetchQueue
        private let counts: Locked<[Int]>

        init(of queue: FetchQueue, _ counts: Locked<[Int]>) {
            self.queue = queue
            self.counts = counts
        }

        deinit {
            let count = queue.pendingCount
            counts.withLock { $0.append(count) }
        }
    }

    @Test("a decider that is let go of may ask the queue", arguments: [false, true])
    func decidersEnd(isReset: Bool) async throws {
        try await withQueueScene { scene in
            let queue = scene.queue()
            let counts = Locked<[Int]>([])
            let fetch = queue.add(scene.request("/waits"), decisions: AskingDecider(of: queue, counts))
            #expect(counts.withLock { $0.isEmpty })
            if isReset { queue.reset() } else { fetch.cancel() }
            #expect(await eventually { counts.withLock { $0 } == [0] })
        }
    }

    @Test("a reset lets go of the queue's decider, and of no other setting (ASI-Q-06)")
    func resetSettings() async throws {
        try await withQueueScene { scene in
            let queue = scene.queue {
                $0.width = 7
                $0.userInfo = ["name": "kept"]
            }
            let counts = Locked<[Int]>([])
            queue.settings.decisions = AskingDecider(of: queue, counts)
            queue.add(scene.request("/waits"))
            #expect(counts.withLock { $0.isEmpty })
            queue.reset()
            #expect(await eventually { counts.withLock { $0 } == [0] })
            #expect(queue.settings.decisions == nil && queue.settings.width == 7)
            #expect(queue.settings.userInfo["name"] as? String == "kept")
        }
    }

    @Test("of settings that are changed on many threads none is lost")
    func updatedSettings() async throws {
        try await withQueueScene { scene in
            let queue = scene.queue()
            await withTaskGroup(of: Void.self) { group in
                for task in 0..<8 {
                    group.addTask {
                        for _ in 0..<500 { queue.updateSettings { $0.width += 1 } }
                        queue.updateSettings { $0.userInfo["\(task)"] = task }
                    }
                }
            }
            #expect(queue.settings.width == 4004 && queue.settings.userInfo.count == 8)
        }
    }

    @Test("four at a time over all workers unless told otherwise (ASI-Q-02)", arguments: [nil, 1, 7])
    func width(width: Int?) async throws {
        let (running, most, gate) = (Locked(0), Locked(0), Occasion())
        try await withQueueScene(
            answering: { seen in
                let now = running.withLock { count in
                    count += 1
                    return count
                }
                most.withLock { $0 = max($0, now) }
                if seen.number == 1, seen.target != "/other" { gate.wait() }
                running.withLock { $0 -= 1 }
                return ScriptedOrigin.Answer(200, "fine")
            }
        ) { scene in
            let queue = scene.queue { if let width { $0.width = width } }
            let expected = width ?? 4
            #expect(queue.settings.width == expected)
            for number in 0..<12 { queue.add(scene.request("/\(number)")) }
            let events = queue.events
            queue.start()
            #expect(await eventually { running.withLock { $0 } == expected })
            gate.open()
            #expect(await eventsToEnd(events).count == 37)
            #expect(most.withLock { $0 } == expected)
        }
    }

    @Test(
        "events in their order, and one end after the last, whatever became of them (ASI-Q-04, ASI-EVT-02)",
        arguments: [false, true])
    func events(isAccurate: Bool) async throws {
        try await withQueueScene(answering: { seen in
            switch seen.target {
            case "/moved": ScriptedOrigin.Answer(302, "", [("Location", "/there")])
            case "/missing": ScriptedOrigin.Answer(404, "no")
            default: ScriptedOrigin.Answer(200, "fine")
            }
        }) { scene in
            let queue = scene.queue {
                $0.cancelsOthersOnFailure = false
                if isAccurate { $0.progress = .accurate }
            }
            let events = queue.events
            var names: [FetchQueue.FetchID: String] = [:]
            var fetches: [FetchQueue.FetchID: QueuedFetch] = [:]
            for (name, request) in [
                ("good", scene.request("/good")), ("missing", scene.request("/missing")),
                ("moved", scene.request("/moved")), ("closed", Request(closedURL())), ("none", Request("nothing")),
            ] {
                let fetch = queue.add(request)
                names[fetch.id] = name
                fetches[fetch.id] = fetch
            }
            queue.start()
            var words: [String] = []
            for event in await eventsToEnd(events) {
                words.append(word(event, names))
                if case .finished(let id, _) = event {
                    // The request's own reader knew before.
                    #expect(fetches[id]?.fetch.currentProgress.isComplete == true)
                }
            }
            func of(_ name: String) -> [String] {
                words.filter { $0.hasPrefix(name) }.map { String($0.dropFirst(name.count + 1)) }
            }
            #expect(of("good") == ["started", "head 200", "finished 200"])
            #expect(of("missing") == ["started", "head 404", "finished 404"])
            #expect(of("moved") == ["started", "redirect 302", "head 200", "finished 200"])
            #expect(of("closed") == (isAccurate ? [] : ["started"]) + ["failed connect"])
            #expect(of("none") == (isAccurate ? [] : ["started"]) + ["failed invalid_url"])
            #expect(words.last == "queue finished" && words.count { $0 == "queue finished" } == 1)
        }
    }

    @Test(
        "the first failure cancels all others, unless the queue says otherwise; one end (ASI-Q-05)",
        arguments: [true, false])
    func failures(cancels: Bool) async throws {
        try await withQueueScene { scene in
            let queue = scene.queue {
                $0.width = 1
                $0.cancelsOthersOnFailure = cancels
            }
            let (events, url) = (queue.events, closedURL())
            let fetches = (0..<10).map { _ in queue.add(Request(url)) }
            queue.start()
            let words = await eventsToEnd(events).map { word($0) }
            #expect(words.first == "started" && words.count { $0 == "queue finished" } == 1)
            #expect(words.count { $0 == "failed connect" } == (cancels ? 1 : 10))
            #expect(words.count { $0 == "failed cancelled" } == (cancels ? 9 : 0))
            for (number, fetch) in fetches.enumerated() {
                await failure(cancels && number > 0 ? .cancelled : .cannotConnect) { try await fetch.response }
            }
            // It can be used as before.
            let after = try await queue.add(scene.request("/after")).response
            #expect(after.status == 200)
        }
    }

    @Test("cancelling all sets progress to nothing; a reset tells nothing, ends what follows and suspends (ASI-Q-06)")
    func cancelAndReset() async throws {
        let gate = Occasion()
        try await withQueueScene(answering: { seen in
            var answer = ScriptedOrigin.Answer(200, "part")
            if seen.target.hasPrefix("/slow") { answer.rest = (Array("rest".utf8), gate) }
            return answer
        }) { scene in
            defer { gate.open() }
            let queue = scene.queue()
            var events = queue.events
            for number in 0..<6 { queue.add(scene.request("/slow\(number)")) }
            queue.start()
            #expect(await eventually { scene.origin.seen().count == 4 })
            queue.cancelAll()
            let words = await eventsToEnd(events).map { word($0) }
            #expect(words.count { $0 == "failed cancelled" } == 6)
            #expect(queue.currentProgress.download.total == 0 && queue.currentProgress.download.completed == 0)
            #expect(!queue.isSuspended && queue.pendingCount == 0)

            events = queue.events
            let held = queue.add(scene.request("/slow6"))
            for number in 7..<14 { queue.add(scene.request("/slow\(number)")) }
            #expect(await eventually { scene.origin.seen().count == 8 })
            queue.reset()
            var told: [String] = []
            for await event in events { told.append(word(event)) }
            #expect(!told.contains { $0.hasPrefix("fail") || $0.hasPrefix("queue") } && queue.isSuspended)
            await failure(.cancelled) { try await held.response }
            events = queue.events
            queue.add(scene.request("/again"))
            #expect(queue.pendingCount == 1)
            queue.start()
            let again = await eventsToEnd(events).map { word($0) }
            #expect(again == ["started", "head 200", "finished 200", "queue finished"])
        }
    }

    @Test("the count goes down before the end of each is told (ASI-Q-07)")
    func counting() async throws {
        let gates = [Occasion(), Occasion(), Occasion()]
        try await withQueueScene(answering: { seen in
            gates[Int(seen.target.dropFirst()) ?? 0].wait()
            return ScriptedOrigin.Answer(200, "fine")
        }) { scene in
            let queue = scene.queue { $0.width = 1 }
            let events = queue.events
            for number in 0..<3 { queue.add(scene.request("/\(number)")) }
            #expect(queue.pendingCount == 3)
            queue.start()
            gates[0].open()
            var counts: [Int] = []
            for await event in events {
                if case .queueFinished = event { break }
                guard case .finished = event else { continue }
                counts.append(queue.pendingCount)
                if counts.count < 3 { gates[counts.count].open() }
            }
            #expect(counts == [2, 1, 0])
        }
    }

    @Test("a request's own decider is asked, else the queue's; never both (ASI-Q-08)")
    func deciders() async throws {
        let right = ChallengingOrigin.basic("me", "pass")
        try await withQueueScene(answering: ChallengingOrigin.taking(right)) { scene in
            let answers = QueueDecider(credential: { .use(Credential(user: "me", password: "pass")) })
            let silent = QueueDecider()
            let queue = scene.queue {
                $0.cancelsOthersOnFailure = false
                $0.decisions = answers
            }
            queue.start()
            let request = scene.request("/secret") {
                $0.options.authentication.allowsClearText = true
                $0.options.authentication.usesSession = false
            }
            let welcome = try await queue.add(request).response
            #expect(welcome.bodyText == "welcome /secret")
            #expect(answers.count == 1)
            await failure(.authentication) { try await queue.add(request, decisions: silent).response }
            #expect(silent.count == 1 && answers.count == 1)
            queue.settings.decisions = silent
            #expect(try await queue.add(request, decisions: answers).response.status == 200)
            #expect(silent.count == 1 && answers.count == 2)
            // Where nobody is there to be asked, the challenge is the answer.
            queue.settings.decisions = nil
            #expect(try await queue.add(request).response.status == 401)
        }
    }

    @Test("priority and dependencies; a sizing request that fails is the failure of its fetch (ASI-Q-09)")
    func order() async throws {
        try await withQueueScene { scene in
            let queue = scene.queue {
                $0.width = 1
                $0.cancelsOthersOnFailure = false
            }
            var events = queue.events
            let first = queue.add(scene.request("/first"), priority: 0)
            queue.add(scene.request("/second"), priority: 1, after: [first.id])
            queue.add(scene.request("/low"), priority: 0.3)
            queue.add(scene.request("/normal"))
            queue.add(scene.request("/high"), priority: 0.7)
            queue.start()
            _ = await eventsToEnd(events)
            #expect(scene.targets.map { $0.dropFirst(5) } == ["high", "normal", "low", "first", "second"])

            events = queue.events
            queue.suspend()
            let bad = queue.add(Request("nothing"))
            let dependent = queue.add(scene.request("/dependent"), after: [bad.id])
            let waiting = queue.add(scene.request("/waiting"), after: [bad.id, dependent.id], startsAfterFailure: true)
            queue.start()
            let error = await failure(.cancelled) { try await dependent.response }
            #expect(error?.detail == "a fetch that it was to follow failed")
            let waited = try await waiting.response
            #expect(waited.status == 200)
            #expect(!scene.targets.contains("GET /dependent"))

            let accurate = scene.queue {
                $0.progress = .accurate
                $0.cancelsOthersOnFailure = false
            }
            let url = closedURL()
            events = accurate.events
            for _ in 0..<5 { accurate.add(Request(url)) }
            accurate.start()
            let words = await eventsToEnd(events).map { word($0) }
            #expect(words == Array(repeating: "failed connect", count: 5) + ["queue finished"])
        }
    }

    @Test("the name of a fetch means nothing to another queue, whatever is in the same place there")
    func otherQueue() async throws {
        let gate = Occasion()
        try await withQueueScene(answering: { seen in
            if seen.target == "/first" { gate.wait() }
            return ScriptedOrigin.Answer(200, "page \(seen.target)")
        }) { scene in
            defer { gate.open() }
            let (queue, other) = (scene.queue(), scene.queue())
            let (first, foreign) = (queue.add(scene.request("/first")), other.add(scene.request("/foreign")))
            #expect(first.id != foreign.id)
            queue.cancel(foreign.id)
            let second = queue.add(scene.request("/second"), after: [foreign.id])
            queue.start()
            let later = try await second.response.bodyText
            gate.open()
            let earlier = try await first.response.bodyText
            #expect(later == "page /second" && earlier == "page /first" && other.pendingCount == 1)
        }
    }

    @Test("a copy has the settings and no fetches (ASI-Q-10)")
    func copy() async throws {
        try await withQueueScene { scene in
            let queue = scene.queue {
                $0.width = 9
                $0.cancelsOthersOnFailure = false
                $0.progress = .accurate
                $0.userInfo["mark"] = 7
            }
            queue.add(scene.request("/one"))
            let copy = FetchQueue(on: queue.coordinator, queue.settings)
            #expect(copy.pendingCount == 0 && copy.isSuspended && copy.settings.width == 9)
            #expect(!copy.settings.cancelsOthersOnFailure && copy.settings.progress == .accurate)
            #expect(copy.settings.userInfo["mark"] as? Int == 7)
        }
    }

    @Test("cancelling by method and path, without the query (AFC-11)")
    func byPath() async throws {
        let gate = Occasion()
        try await withQueueScene(answering: { seen in
            if seen.target == "/running?a=1" { gate.wait() }
            return ScriptedOrigin.Answer(200, "fine")
        }) { scene in
            defer { gate.open() }
            let queue = scene.queue {
                $0.cancelsOthersOnFailure = false
                $0.width = 1
            }
            let running = queue.add(scene.request("/running?a=1"))
            queue.start()
            #expect(await eventually { scene.origin.seen().count == 1 })
            let rest = ["/a", "/b?x=1", "/b"].map { queue.add(scene.request($0)) }
            let post = queue.add(scene.request("/b") { $0.method = .post })
            let root = queue.add(Request(String(scene.origin.url("/").dropLast())))
            #expect(queue.cancelAll(.get, path: "/b") == 2)
            #expect(queue.cancelAll(.put, path: "/a") == 0)
            #expect(queue.cancelAll(path: "/running") == 1)
            await failure(.cancelled) { try await running.response }
            await failure(.cancelled) { try await rest[1].response }
            await failure(.cancelled) { try await rest[2].response }
            for fetch in [rest[0], post, root] {
                let response = try await fetch.response
                #expect(response.status == 200)
            }
        }
    }

    @Test("a method that becomes POST with a body is POST for who cancels by it, waiting and running (AFC-11)")
    func byUpgradedMethod() async throws {
        let gate = Occasion()
        try await withQueueScene(answering: { _ in
            gate.wait()
            return ScriptedOrigin.Answer(200, "fine")
        }) { scene in
            defer { gate.open() }
            let queue = scene.queue {
                $0.cancelsOthersOnFailure = false
                $0.width = 1
            }
            func upgraded(_ number: Int) -> Request {
                scene.request("/b?\(number)") {
                    $0.method = .delete
                    $0.body = .text("x")
                    $0.options.upgradesMethodForBody = true
                }
            }
            let fetches = (0..<2).map { queue.add(upgraded($0)) }
            queue.start()
            #expect(await eventually { scene.targets == ["POST /b?0"] })
            #expect(queue.cancelAll(.delete, path: "/b") == 0)
            #expect(queue.cancelAll(.post, path: "/b") == 2)
            for fetch in fetches { await failure(.cancelled) { try await fetch.response } }
        }
    }

    @Test("one whose size is being asked for is cancelled by its own method")
    func byMethodWhileSizing() async throws {
        let gate = Occasion()
        try await withQueueScene(answering: { seen in
            if seen.method == "HEAD" { gate.wait() }
            return ScriptedOrigin.Answer(200, "fine")
        }) { scene in
            defer { gate.open() }
            let queue = scene.queue {
                $0.cancelsOthersOnFailure = false
                $0.progress = .accurate
                $0.width = 2
            }
            let fetches = (0..<3).map { queue.add(scene.request("/b?\($0)")) }
            queue.start()
            #expect(await eventually { scene.origin.seen().count == 2 })
            #expect(queue.cancelAll(.head, path: "/b") == 0)
            #expect(queue.cancelAll(.get, path: "/b") == 3)
            for fetch in fetches { await failure(.cancelled) { try await fetch.response } }
            #expect(scene.origin.seen().allSatisfy { $0.method == "HEAD" })
        }
    }

    @Test("a queue of many without handles; a stream is read through its handle, and cancelled with it")
    func many() async throws {
        try await withQueueScene { scene in
            let queue = scene.queue { $0.width = 32 }
            let events = queue.events
            let added = queue.add(contentsOf: (0..<300).map { scene.request("/\($0)") }, into: .discard)
            queue.start()
            #expect(await eventsToEnd(events).count == 901 && Set(added).count == 300)
            let stream = queue.add(scene.request("/stream"), into: .stream)
            let bytes = try await readStream(stream.fetch)
            #expect(String(decoding: bytes, as: UTF8.self) == "page /stream")
        }
        let gate = Occasion()
        try await withQueueScene(answering: { _ in
            var answer = ScriptedOrigin.Answer(200, "part")
            answer.rest = (Array("rest".utf8), gate)
            return answer
        }) { scene in
            defer { gate.open() }
            let queue = scene.queue()
            let events = queue.events
            queue.start()
            do {
                let stream = queue.add(scene.request("/dropped"), into: .stream)
                for await event in stream.fetch.events { if case .data = event { break } }
            }
            let words = await eventsToEnd(events).map { word($0) }
            #expect(words == ["started", "head 200", "failed cancelled", "queue finished"])
        }
    }

    @Test(
        "a stream without a handle is refused when its turn comes, as a send into one is",
        arguments: [FetchQueue.Counting.simple, .accurate])
    func unreadable(counting: FetchQueue.Counting) async throws {
        try await withQueueScene { scene in
            let queue = scene.queue { $0.progress = counting }
            let events = queue.events
            queue.add(contentsOf: [scene.request("/a"), scene.request("/b")], into: .stream)
            queue.start()
            let words = await eventsToEnd(events).map { word($0) }
            #expect(words == ["failed bad_request", "failed bad_request", "queue finished"])
            await failure(.badRequest) { try await scene.coordinator.send(scene.request("/c"), into: .stream) }
            #expect(scene.targets.isEmpty)
        }
    }
}
