import Foundation
import Glibc
import Testing
import TrawlHTTP
import TrawlPlatform
import TrawlProtocol

@testable import TrawlWorker

@Suite("The life of a worker", .serialized)
struct SessionTests {
    @Test("it greets, and ends with the control socket")
    func greeting() throws {
        let worker = try TestCoordinator()
        #expect(worker.ready?.build == BuildIdentity.text)
        #expect(worker.ready?.segmentLayout == SharedSegment.layoutVersion)
        worker.hangUp()
        #expect(worker.exitStatus() == 0)
    }

    @Test("it ends when nobody ever greets it")
    func silence() throws {
        let worker = try TestCoordinator(greets: false)
        worker.hangUp()
        #expect(worker.exitStatus() == 0)
    }

    @Test("a coordinator of another build, version or layout, or a place that does not exist")
    func mismatch() throws {
        let good = Hello(
            build: BuildIdentity.text, segmentLayout: SharedSegment.layoutVersion, slot: 0, generation: 1, leases: 4,
            roots: [])
        var build = good
        build.build = "another"
        var layout = good
        layout.segmentLayout += 1
        var version = good
        version.version += 1
        for hello in [build, layout, version] {
            let worker = try TestCoordinator(hello: hello)
            guard case .ready(let ready)? = try worker.next()?.0 else {
                Issue.record("no answer")
                return
            }
            #expect(ready.build == BuildIdentity.text)
            #expect(worker.exitStatus() == 78)
        }
        var slot = good
        slot.slot = 9
        var leases = good
        leases.leases = 1000
        var roots = good
        roots.roots = [WorkerRoot(path: "/nonexistent/directory", device: 0, inode: 0)]
        for hello in [slot, leases, roots] {
            #expect(try TestCoordinator(hello: hello).exitStatus() == 78)
        }
    }

    @Test("what is not there keeps a worker from its work for good, and what may pass does not")
    func refusals() {
        for number in [ENOENT, ENOTDIR, EACCES, ELOOP, ESTALE] {
            #expect(Handshake.Refusal(SystemError(errno: number, call: "openat")).status == 78)
        }
        for number in [EMFILE, ENFILE, ENOMEM, EIO, ETIMEDOUT, ENOTCONN] {
            #expect(Handshake.Refusal(SystemError(errno: number, call: "openat")).status == 70)
        }
    }

    // In a process of its own, which has no descriptors left.
    @Test("a worker that finds no descriptor ends as one that may be tried again")
    func shortage() async {
        await #expect(processExitsWith: .exitCode(0)) {
            let worker = try TestCoordinator(greets: false)
            var limit = rlimit(rlim_cur: 3, rlim_max: 3)
            guard setrlimit(__rlimit_resource_t(7), &limit) == 0 else { exit(2) }
            worker.send(
                .hello(
                    Hello(
                        build: BuildIdentity.text, segmentLayout: SharedSegment.layoutVersion, slot: 0, generation: 1,
                        leases: 4, roots: [])))
            // A checker for leaks, which looks at an exit, would need a descriptor.
            _exit(worker.exitStatus() == 70 ? 0 : 1)
        }
    }

    @Test("a worker that has no descriptor for what comes with a lease says that it is not the lease's doing")
    func shortageAtLease() async {
        await #expect(processExitsWith: .exitCode(0)) {
            let worker = try TestCoordinator()
            let file = open("/dev/null", O_RDONLY | O_CLOEXEC)
            let lease = try worker.lease("http://127.0.0.1:1/", .post) { $0.body = .descriptor(length: 1) }
            var limit = rlimit(rlim_cur: 3, rlim_max: 3)
            guard setrlimit(__rlimit_resource_t(7), &limit) == 0 else { exit(2) }
            worker.send(.lease(lease), descriptors: [file])
            _exit(worker.exitStatus() == 71 ? 0 : 1)
        }
    }

    @Test("a directory that has taken the place of the one that other workers write to")
    func otherRoot() throws {
        let scratch = try Scratch()
        let (out, old) = (scratch.path + "/out", scratch.path + "/old")
        mkdir(out, 0o777)
        let hello = Hello(
            build: BuildIdentity.text, segmentLayout: SharedSegment.layoutVersion, slot: 0, generation: 1, leases: 4,
            roots: [try WorkerRoot(existing: out)])
        rename(out, old)
        mkdir(out, 0o777)
        #expect(try TestCoordinator(hello: hello).exitStatus() == 78)
        rmdir(out)
        rename(old, out)
        let worker = try TestCoordinator(hello: hello)
        guard case .ready? = try worker.next()?.0 else {
            Issue.record("no answer")
            return
        }
        worker.hangUp()
        #expect(worker.exitStatus() == 0)
    }

    @Test(
        "what transfers say that went on when the socket had taken everything is sent at once",
        .timeLimit(.minutes(10)))
    func afterBackPressure() throws {
        let scratch = try Scratch()
        var profile = TransferProfile()
        profile.cache = CacheTerms(directory: scratch.path + "/store", budget: 64 << 20)
        let worker = try TestCoordinator(profile: profile, longestWait: 10_000)
        let target = "/bytes/1048576?field=Cache-Control:%20max-age=86400"
        _ = try worker.fetch(target) { $0.cache = [.reads, .writes, .sends] }
        var least = Duration.seconds(60)
        for _ in 0..<10 {
            let began = MonotonicClock.now()
            for _ in 0..<6 {
                let lease = try worker.lease(target) {
                    $0.cache = .reads
                    $0.sink = .stream(credit: 2 << 20)
                }
                worker.send(.lease(lease))
            }
            var open = 6
            while open > 0, let (message, _) = try worker.next() {
                guard case .ended(let end) = message else { continue }
                #expect(end.outcome == .complete(.streamed(length: 1 << 20)) && end.cache.source == .cache)
                open -= 1
            }
            least = min(least, began.duration(to: MonotonicClock.now()))
        }
        // Each round stood still once, for as long as the worker waits where nothing happens.
        #expect(least < .seconds(5))
    }

    @Test("frames that make no sense end it with 65")
    func hostileFrames() throws {
        let frames: [[UInt8]] = [
            [0xFF, 0xFF, 0xFF, 0xFF, 3, 0, 0, 0], [0, 0, 0, 0, 99, 0, 0, 0], [0, 0, 0, 0, 7, 0, 1, 0],
            [0, 0, 0, 0, 7, 3, 0, 0], [4, 0, 0, 0, 3, 0, 0, 0, 1, 2, 3, 4], [1, 0, 0, 0, 7, 0, 0, 0, 1],
            [0, 0, 0, 0, 20, 0, 0, 0],
        ]
        for frame in frames {
            let worker = try TestCoordinator()
            worker.sendRaw(frame)
            #expect(worker.exitStatus() == 65, "\(frame)")
        }
        let ungreeted = try TestCoordinator(greets: false)
        ungreeted.send(.drain)
        #expect(ungreeted.exitStatus() == 65)
    }

    @Test("leases that cannot be meant end it with 65")
    func impossibleLeases() throws {
        let wrong: [(TestCoordinator) throws -> Void] = [
            { $0.send(.lease(try $0.lease("/bytes/1") { $0.profile = 9 })) },
            { $0.send(.lease(try $0.lease("/bytes/1") { $0.progressIndex = 16 })) },
            { worker in
                for _ in 0..<2 { worker.send(.lease(try worker.lease("/stall") { $0.progressIndex = 3 })) }
            },
            { worker in
                for _ in 0..<5 { worker.send(.lease(try worker.lease("/stall"))) }
            },
            { worker in
                worker.send(.lease(try worker.lease("/stall")))
                worker.send(.drain)
                worker.send(.lease(try worker.lease("/stall")))
            },
            {
                $0.send(
                    .hello(
                        Hello(build: BuildIdentity.text, segmentLayout: 1, slot: 0, generation: 1, leases: 1, roots: [])
                    ))
            },
        ]
        for step in wrong {
            let worker = try TestCoordinator(leases: 4)
            try step(worker)
            #expect(worker.exitStatus() == 65)
        }
    }

    @Test("words about leases that have ended are ignored")
    func races() throws {
        let worker = try TestCoordinator()
        worker.send(.cancel(lease: 77))
        worker.send(.credit(lease: 77, bytes: 1))
        worker.send(.answer(lease: 77, .proceed))
        worker.send(.answer(lease: 77, .redirectBody(.descriptor)), descriptors: [try temporaryFile([])])
        #expect(try worker.fetch("/bytes/10").body == stream(10))
    }

    @Test("a drained worker finishes what it has")
    func drain() throws {
        let worker = try TestCoordinator()
        let slow = try worker.lease("/delay/300")
        worker.send(.lease(slow))
        worker.send(.drain)
        #expect(try worker.collect(slow.id).head?.status == 200)
        #expect(worker.exitStatus() == 0)
    }

    @Test(
        "a lease can be cancelled at any point, and the worker goes on",
        arguments: ["/stall", "/stall?after=100", "/endless", "/delay/10", "/bytes/10", "http://127.0.0.1:1/"])
    func cancel(target: String) throws {
        let scratch = try Scratch()
        let worker = try TestCoordinator(roots: [scratch.path])
        for delay in [UInt32(0), 1_000, 20_000] {
            for sink in [BodySink.discard, .stream(credit: 100), .file(root: 0, path: "x", collision: .replace)] {
                let lease = try worker.lease(target) { $0.sink = sink }
                worker.send(.lease(lease))
                if delay > 0 { usleep(delay) }
                worker.send(.cancel(lease: lease.id))
                let exchange = try worker.collect(lease.id)
                #expect(exchange.end.lease == lease.id)
                if target.hasPrefix("/stall") || target == "/endless" { #expect(exchange.failure?.kind == .cancelled) }
            }
        }
        #expect(try worker.fetch("/bytes/10").body == stream(10))
        #expect(scratch.names.isEmpty || scratch.names == ["x"])
    }

    @Test("a coordinator that reads nothing stops transfers, and its end ends the worker and its files")
    func backPressure() throws {
        let scratch = try Scratch()
        let worker = try TestCoordinator(leases: 4, roots: [scratch.path])
        for _ in 0..<3 {
            worker.send(.lease(try worker.lease("/endless") { $0.sink = .stream(credit: 100_000_000) }))
        }
        worker.send(.lease(try worker.lease("/endless") { $0.sink = .file(root: 0, path: "x", collision: .replace) }))
        let line = worker.segment.worker(0)
        // Until something was received, and a whole beat passes in which nothing more was.
        var received: [UInt64] = []
        func total() -> UInt64 {
            (0..<16).reduce(0) { $0 + (worker.segment.progress(worker: 0, transfer: $1).snapshot()?.received ?? 0) }
        }
        for _ in 0..<200 {
            let beat = line.heartbeat
            while line.heartbeat < beat + 2 { usleep(10_000) }
            let sum = total()
            let isStill = sum > 0 && sum == received.last
            received.append(sum)
            if isStill { break }
        }
        #expect(received.last == received.dropLast().last)
        #expect(try #require(received.last) > 0)
        worker.hangUp()
        #expect(worker.exitStatus() == 0)
        #expect(scratch.names.isEmpty)
    }

    @Test("after back-pressure everything still comes")
    func relief() throws {
        let worker = try TestCoordinator(leases: 4)
        var leases: [UInt64] = []
        for _ in 0..<4 {
            let lease = try worker.lease("/bytes/2000000") { $0.sink = .stream(credit: 100_000_000) }
            worker.send(.lease(lease))
            leases.append(lease.id)
        }
        usleep(300_000)
        var bodies: [UInt64: [UInt8]] = [:]
        var ended = 0
        while ended < 4, let (message, _) = try worker.next() {
            if case .data(let lease, let bytes) = message { bodies[lease, default: []] += bytes }
            if case .ended(let end) = message {
                #expect(end.outcome == .complete(.streamed(length: 2_000_000)))
                ended += 1
            }
        }
        for lease in leases { #expect(bodies[lease] == stream(2_000_000)) }
    }

    @Test("the shared segment shows heart, progress and whether a request went out")
    func progress() throws {
        let worker = try TestCoordinator()
        let lease = try worker.lease("/stall?after=1000&declared=5000")
        worker.send(.lease(lease))
        let line = worker.segment.progress(worker: 0, transfer: Int(lease.progressIndex))
        var snapshot = line.snapshot()
        for _ in 0..<6000 where snapshot?.received != 1000 {
            usleep(10_000)
            snapshot = line.snapshot()
        }
        #expect(snapshot?.lease == lease.id)
        #expect(snapshot?.received == 1000)
        #expect(snapshot?.expected == 5000)
        #expect(snapshot?.requestMayHaveBeenSent == true)
        let beat = worker.segment.worker(0).heartbeat
        for _ in 0..<6000 {
            if worker.segment.worker(0).heartbeat != beat { break }
            usleep(10_000)
        }
        #expect(worker.segment.worker(0).heartbeat > beat)
        worker.send(.cancel(lease: lease.id))
        _ = try worker.collect(lease.id)
        #expect(line.snapshot()?.isOver == true)
    }

    @Test("what was sent can be seen until the next lease: a worker may die before it tells the end")
    func progressAfterEnd() throws {
        let worker = try TestCoordinator()
        let lease = try worker.lease("/echo", .post)
        worker.send(.lease(lease))
        _ = try worker.collect(lease.id)
        let words = worker.segment.progress(worker: 0, transfer: Int(lease.progressIndex)).snapshot()
        #expect(words?.lease == lease.id)
        #expect(words?.requestMayHaveBeenSent == true)
        #expect(words?.isOver == true)
    }

    // Alone in a process: other tests open and close descriptors meanwhile.
    @Test("no descriptor stays open when a worker ends")
    func descriptors() async throws {
        await #expect(processExitsWith: .exitCode(0)) {
            func count() -> Int { (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count) ?? 0 }
            _ = try TestCoordinator().fetch("/bytes/1")
            let before = count()
            for _ in 0..<5 {
                let worker = try TestCoordinator()
                _ = try worker.fetch("/bytes/100000")
                _ = try worker.fetch("/echo", .post, descriptors: [try temporaryFile([1])]) {
                    $0.body = .descriptor(length: 1)
                }
                worker.send(
                    .lease(try worker.lease("/stall") { $0.sink = .descriptor }), descriptors: [try temporaryFile([])])
                worker.hangUp()
                guard worker.exitStatus() == 0 else { exit(1) }
            }
            // Somebody else may have one open for a moment.
            for _ in 0..<100 where count() > before { usleep(50_000) }
            exit(count() <= before ? 0 : 2)
        }
    }
}
