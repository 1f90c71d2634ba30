import Glibc
import Testing
import TrawlHTTP
import TrawlProtocol

@Suite("Faults of servers, as one worker tells them", .serialized)
struct FaultTests {
    // In a process of its own, which may have no more threads.
    @Test("without a thread for its name a fetch has no connection, and nothing is said about the name")
    func noThread() async {
        await #expect(processExitsWith: .exitCode(0)) {
            let worker = try TestCoordinator()
            // For root the limit does not count (setrlimit(2), RLIMIT_NPROC).
            if geteuid() == 0, setuid(65_534) != 0 { exit(3) }
            var limit = rlimit(rlim_cur: 0, rlim_max: 0)
            guard setrlimit(__rlimit_resource_t(6), &limit) == 0 else { exit(2) }
            let failure = try worker.fetch("http://name.invalid/").failure
            // A checker for leaks, which looks at an exit, would need a thread.
            _exit(failure?.kind == .cannotConnect && failure?.systemError == EAGAIN ? 0 : 1)
        }
    }

    @Test(
        "each fault has its name",
        arguments: [
            ("/close", HopFailure.Kind.connectionLost),
            ("/reset", .connectionLost),
            ("/close?head=0&after=10", .connectionLost),
            ("/close?head=1", .truncated),
            ("/close?after=100", .truncated),
            ("/reset?after=100", .connectionLost),
            ("/truncate", .truncated),
            ("/truncate?chunked=1", .truncated),
            ("/truncate?chunked=1&declared=500&sent=500", .truncated),
            ("/garbage", .malformedResponse),
            ("/endless-head", .headTooLarge),
            ("/big-head", .headTooLarge),
            ("/big-head?one=1", .headTooLarge),
            ("/many-fields", .headTooLarge),
            ("/garbage-head?kind=binary", .malformedResponse),
            ("/garbage-head?kind=nul", .malformedResponse),
            ("/garbage-head?kind=no-colon", .malformedResponse),
            ("/garbage-head?kind=first-fold", .malformedResponse),
            ("/garbage-head?kind=first-indented", .malformedResponse),
            ("/garbage-head?kind=bare-cr", .malformedResponse),
            ("/garbage-head?kind=name-cr", .malformedResponse),
            ("/garbage-head?kind=cr-line", .malformedResponse),
            ("/garbage-head?kind=cr-cr-lf", .malformedResponse),
            ("/garbage-head?kind=bad-status", .malformedResponse),
            ("/garbage-head?kind=big-status", .malformedResponse),
            ("/garbage-head?kind=no-status", .malformedResponse),
            ("/garbage-head?kind=bad-version", .malformedResponse),
            ("/garbage-head?kind=no-version", .malformedResponse),
            ("/garbage-head?kind=negative-length", .malformedResponse),
            ("/garbage-head?kind=huge-length", .malformedResponse),
            ("/garbage-head?kind=text-length", .malformedResponse),
            ("/bad-chunk?kind=size", .malformedResponse),
            ("/bad-chunk?kind=empty", .malformedResponse),
            ("/bad-chunk?kind=prefix", .malformedResponse),
            ("/bad-chunk?kind=crlf", .malformedResponse),
            ("/bad-chunk?kind=negative", .malformedResponse),
            ("/bad-chunk?kind=overflow", .malformedResponse),
            ("/bad-chunk?kind=lf", .malformedResponse),
            ("/bad-chunk?kind=ext", .malformedResponse),
            ("/bad-chunk?kind=no-last", .truncated),
            ("/bad-chunk?kind=huge", .truncated),
            ("/bad-chunk?kind=trailer-flood", .malformedResponse),
            ("/bad-chunk?kind=long-trailer&bytes=4200", .headTooLarge),
            ("/two-lengths", .malformedResponse),
            ("/two-lengths?comma=1", .malformedResponse),
            // The message is whole, and its coding is not; where the connection's end is all that ends it, neither is.
            ("/gzip-truncated", .decoding),
            ("/gzip-truncated?chunked=1", .decoding),
            ("/gzip-truncated?nolength=1", .truncated),
            ("/gzip-badcrc", .decoding),
            ("/coding?names=gzip", .decoding),
            ("/coding?names=br,br", .decoding),
            ("/interim?list=101", .malformedResponse),
        ])
    func faults(target: String, expected: HopFailure.Kind) throws {
        let worker = try TestCoordinator()
        let exchange = try worker.fetch(target)
        #expect(exchange.failure?.kind == expected, "\(exchange.end.outcome)")
        #expect(exchange.failure?.requestSent != false)
        // The worker goes on.
        #expect(try worker.fetch("/bytes/10").body == stream(10))
    }

    @Test(
        "oddities that mean one thing only are taken",
        arguments: [
            "/obs-fold", "/both-lengths", "/http10", "/http10?keep=1", "/no-reason", "/no-reason?bare=1", "/lowercase",
            "/bad-chunk?kind=good", "/bad-chunk?kind=good-ext", "/two-lengths?a=5&b=5", "/gzip-garbage-after",
            "/garbage-head?kind=empty-name", "/garbage-head?kind=bare-lf",
            "/bytes/100?nolength=1", "/early-response", "/bad-chunk?kind=long-trailer&bytes=4000",
        ])
    func oddities(target: String) throws {
        let worker = try TestCoordinator()
        let exchange = try worker.fetch(target)
        #expect(exchange.failure == nil, "\(exchange.end.outcome)")
        #expect(exchange.head != nil)
        #expect(try worker.fetch("/bytes/10").body == stream(10))
    }

    @Test("white space before the first field line finds nothing of the responses before")
    func foldedOntoNothing() throws {
        // Lines of an earlier response are freed by then, and a libcurl that still goes to them damages memory.
        let worker = try TestCoordinator()
        for round in 0..<60 {
            let fields = (0..<round % 20).map { "&field=X-\($0):\(String(repeating: "v", count: $0 * round % 90))" }
            #expect(try worker.fetch("/bytes/10?n=\(round)" + fields.joined()).body == stream(10))
            let exchange = try worker.fetch("/garbage-head?kind=first-indented")
            #expect(exchange.failure?.kind == .malformedResponse, "round \(round): \(exchange.end.outcome)")
        }
    }

    @Test("chunks win over a length, and the connection is not used again")
    func bothLengths() throws {
        let worker = try TestCoordinator()
        #expect(try worker.fetch("/both-lengths").body == Array("hello".utf8))
        #expect(try worker.fetch("/bytes/1").end.metrics.connection == 2)
    }

    @Test("nothing is listening, and no such host")
    func unreachable() throws {
        let worker = try TestCoordinator()
        // Port 1 of an address nobody listens on.
        let refused = try worker.fetch("http://127.0.0.1:1/")
        #expect(refused.failure?.kind == .cannotConnect)
        #expect(refused.failure?.systemError == ECONNREFUSED)
        #expect(refused.failure?.requestSent == false)
        let unknown = try worker.fetch("http://no-such-host.invalid/")
        #expect(unknown.failure?.kind == .hostNotFound)
        #expect(try worker.fetch("ftp://127.0.0.1/x").failure?.kind == .unsupportedScheme)
        #expect(try worker.fetch("/x", named("CONNECT")).failure?.kind == .malformedRequest)
    }

    @Test("what failed on a connection is not put down to an address that was tried before")
    func otherAddress() throws {
        let worker = try TestCoordinator()
        // libcurl knows ::1 for it too, where nobody listens, and tries that first.
        let base = try OriginProcess.shared.get().base.replacing("127.0.0.1", with: "localhost")
        let failure = try worker.fetch(base + "/close").failure
        #expect(failure?.kind == .connectionLost)
        #expect(failure?.curlCode == 52 && failure?.systemError == 0, "\(String(describing: failure))")
    }

    @Test("a hop whose URL libcurl reads as another origin's than it was made for is refused")
    func otherOrigin() throws {
        let worker = try TestCoordinator()
        let base = try OriginProcess.shared.get().base
        let port = try #require(base.split(separator: ":").last)
        // The first request to an origin is made in another way than later ones.
        for known in [false, true] {
            if known { for _ in 0..<3 { #expect(try worker.fetch("/bytes/1").body == stream(1)) } }
            // As if that were all a host.
            let longer = try worker.fetch("/bytes/1") { $0.originLength += 6 }
            #expect(longer.failure?.kind == .malformedRequest && longer.failure?.requestSent == false)
            let shorter = try worker.fetch("/bytes/1") { $0.originLength -= 1 }
            #expect(shorter.failure?.kind == .malformedRequest)
            let number = try worker.fetch("http://0x7f.1:\(port)/bytes/1")
            #expect(number.failure?.kind == .malformedRequest)
            let none = try worker.fetch("/bytes/1") { $0.originLength = .max }
            #expect(none.failure?.kind == .malformedRequest)
        }
        #expect(try worker.fetch("/bytes/1").body == stream(1))
    }

    @Test("a scheme the profile does not allow is refused")
    func schemes() throws {
        var profile = TransferProfile()
        profile.allowsHTTP = false
        let exchange = try TestCoordinator(profile: profile).fetch("/bytes/1")
        #expect(exchange.failure?.kind == .unsupportedScheme)
    }

    @Test("silence, slowness and limits of time")
    func times() throws {
        var profile = TransferProfile()
        profile.inactivityTimeout = 600
        let worker = try TestCoordinator(profile: profile)
        #expect(try worker.fetch("/stall").failure?.kind == .inactive)
        #expect(try worker.fetch("/stall?after=10").failure?.kind == .inactive)
        // Slow, but never silent for so long; with more time where the machine was.
        var slow: HopFailure?
        for limit in [600, 3000, 15_000] as [UInt32] {
            profile.inactivityTimeout = limit
            worker.send(.profile(number: 1, profile))
            slow = try worker.fetch("/drip?bytes=8&interval=\(limit / 3)").failure
            if slow == nil { break }
        }
        #expect(slow == nil)
        profile.inactivityTimeout = 0
        worker.send(.profile(number: 1, profile))
        #expect(try worker.fetch("/drip?bytes=100&interval=100") { $0.timeout = 700 }.failure?.kind == .timedOut)
    }

    @Test("a request that must not be repeated is not, when its reused connection closes")
    func closedUnderRequest() throws {
        let worker = try TestCoordinator()
        #expect(try worker.fetch("/close-after-request").failure == nil)
        let lost = try worker.fetch("/close-after-request", .post) { $0.body = .inline([1]) }
        #expect(lost.failure?.kind == .connectionLost)
        #expect(lost.failure?.requestSent == true)
        #expect(try worker.fetch("/close-after-request").failure == nil)
        // One that may be repeated goes out once more, on a new connection.
        let again = try worker.fetch("/close-after-request")
        #expect(again.failure == nil)
        #expect(again.head?.status == 200)
        #expect(again.end.metrics.repeatedRequest && !lost.end.metrics.repeatedRequest)
    }

    @Test("one that may be repeated is, however many reused connections have closed under earlier ones")
    func closedUnderManyRequests() throws {
        for target in ["/close-after-request", "/close-after-request?reset=1"] {
            let worker = try TestCoordinator()
            for _ in 0..<30 { #expect(try worker.fetch(target).head?.status == 200) }
        }
    }

    @Test("one that may go out once is given up in place of that, and goes out with another lease")
    func closedUnderRequestSentOnce() throws {
        for target in ["/close-after-request", "/close-after-request?reset=1"] {
            let worker = try TestCoordinator()
            for _ in 0..<10 {
                #expect(try worker.fetch(target) { $0.options.insert(.sendsOnce) }.head?.status == 200)
                let lost = try worker.fetch(target) { $0.options.insert(.sendsOnce) }.end
                #expect(lost.outcome == .givenUp(requestSent: true, kept: 0, isPassed: false))
                #expect(!lost.metrics.repeatedRequest)
            }
        }
    }

    @Test("connecting that is given up leaves nothing that ends other connections, or counts")
    func givenUpConnects() throws {
        let silent = try SilentListener()
        var profile = TransferProfile()
        profile.connectTimeout = 120
        let worker = try TestCoordinator(profile: profile)
        // The others connect, however long that takes.
        worker.send(.profile(number: 2, TransferProfile()))
        var targets: [UInt64: String] = [:]
        for round in 0..<8 {
            // Bodies whose end only the connection's shows, and which come while the others give up.
            var open: Set<UInt64> = []
            var dead: Set<UInt64> = []
            for number in 0..<12 {
                let isDead = number % 3 == 0
                let target = isDead ? silent.url : "/bytes/8000?nolength=1&rate=20000&seed=\(round * 12 + number)"
                let lease = try worker.lease(target) {
                    $0.profile = isDead ? 1 : 2
                    $0.counted = CountedOrigin(number: isDead ? 9 : 7, most: 16)
                }
                targets[lease.id] = target
                open.insert(lease.id)
                if isDead { dead.insert(lease.id) }
                worker.send(.lease(lease))
            }
            while !open.isEmpty, let (message, descriptors) = try worker.next() {
                for descriptor in descriptors { close(descriptor) }
                guard case .ended(let end) = message else { continue }
                open.remove(end.lease)
                if targets[end.lease] == silent.url {
                    guard case .failed(let failure) = end.outcome else {
                        Issue.record("connected")
                        continue
                    }
                    dead.remove(end.lease)
                    #expect(failure.kind == .connectTimedOut && end.connections <= dead.count, "\(failure)")
                } else {
                    guard case .complete(.inline(let bytes)) = end.outcome else {
                        Issue.record("\(end.outcome)")
                        continue
                    }
                    #expect(bytes.count == 8000)
                }
            }
        }
    }

    @Test("a connection the server closed while it was idle is not used")
    func closedWhileIdle() throws {
        let worker = try TestCoordinator()
        for _ in 0..<3 {
            let exchange = try worker.fetch("/close-idle?ms=20", .post) { $0.body = .inline([1]) }
            #expect(exchange.failure == nil, "\(exchange.end.outcome)")
            try exchange.awaitUnasked()
        }
    }

    @Test("Keep-Alive limits are kept: idle time, and requests nearly used up")
    func keepAlive() throws {
        let worker = try TestCoordinator()
        // Time enough for the next to find it.
        #expect(try worker.fetch("/keepalive?timeout=60&max=100").end.metrics.connection == 1)
        #expect(try worker.fetch("/keepalive?timeout=1&max=100").end.metrics.connection == 1)
        usleep(1_100_000)
        #expect(try worker.fetch("/keepalive?timeout=9&max=5").end.metrics.connection == 2)
        #expect(try worker.fetch("/bytes/1").end.metrics.connection == 3)
    }

    @Test("uploads that a server breaks off")
    func uploads() throws {
        let worker = try TestCoordinator()
        let bytes = stream(4 << 20)
        for target in ["/upload-reset?after=1000", "/early-response?after=1000"] {
            let exchange = try worker.fetch(target, .post, descriptors: [try temporaryFile(bytes)]) {
                $0.body = .descriptor(length: UInt64(bytes.count))
            }
            // The answer may be lost with the reset that follows it.
            #expect(exchange.failure?.kind == .connectionLost || exchange.head?.status == 413)
        }
        let short = try worker.fetch("/echo", .post, descriptors: [try temporaryFile([1, 2, 3])]) {
            $0.body = .descriptor(length: 10)
        }
        #expect(short.failure?.kind == .requestBody)
        #expect(try worker.fetch("/bytes/10").body == stream(10))
    }
}
