import Glibc
import Testing
import TrawlHTTP
import TrawlProtocol

@Suite("Bytes beyond a response never become another one", .serialized)
struct PoisonTests {
    @Test(
        "whatever comes late or in the same read",
        arguments: [
            "/poison/late?ms=0", "/poison/late?ms=20", "/poison/with-body", "/poison/with-body?bytes=70000",
            "/poison/short-length?ms=0", "/poison/short-length?ms=20", "/poison/zero-length?ms=0",
            "/poison/zero-length?ms=20", "/poison/chunked?ms=0", "/poison/chunked?ms=20",
            "/poison/304?ms=0", "/poison/304?ms=20", "/poison/204?ms=0", "/poison/204?ms=20", "/poison/head?ms=0",
            "/poison/head?ms=20",
        ])
    func poison(target: String) throws {
        let worker = try TestCoordinator()
        let method: HTTPMethod = target.hasPrefix("/poison/head") ? .head : .get
        let first = try worker.fetch(target, method)
        #expect(first.failure == nil, "\(first.end.outcome)")
        #expect(first.head?.fields.contains("X-Poison") == false)
        // The late ones are there before the next request is made.
        if target.hasSuffix("ms=20") { try first.awaitUnasked() } else { usleep(150_000) }
        for _ in 0..<3 {
            let next = try worker.fetch("/bytes/100", .post) { $0.body = .inline([1]) }
            #expect(next.failure == nil, "\(next.end.outcome)")
            #expect(next.head?.fields.contains("X-Poison") == false)
            #expect(next.body == stream(100))
            #expect(next.end.metrics.connection != 1)
        }
    }

    @Test("it is seen as it comes, though the body before it waits for its reader")
    func behindWaiting() throws {
        let worker = try TestCoordinator()
        let before = try worker.fetch("/bytes/100")
        #expect(before.end.metrics.connection == 1)
        let waiting = try worker.lease("/poison/chunked-gzip") { $0.sink = .stream(credit: 1) }
        worker.send(.lease(waiting))
        guard case .data(waiting.id, let first)? = try worker.next()?.0 else {
            Issue.record("no data")
            return
        }
        #expect(first == [0])
        let other = try worker.fetch("/bytes/100")
        #expect(other.body == stream(100) && other.end.metrics.connection != 1)
        worker.send(.credit(lease: waiting.id, bytes: 100_000))
        let rest = try worker.collect(waiting.id)
        #expect(rest.failure == nil && rest.streamed.count == 999_999)
    }

    @Test("many transfers at once stay clean")
    func many() throws {
        let worker = try TestCoordinator(leases: 16)
        let targets = [
            "/poison/late?ms=1", "/poison/with-body", "/poison/short-length?ms=1", "/poison/chunked?ms=1",
            "/poison/304?ms=0", "/poison/204?ms=1", "/bytes/100", "/bytes/5000?chunked=1",
        ]
        var open: Set<UInt64> = []
        var next = 0
        while next < 400 || !open.isEmpty {
            while next < 400, open.count < 16 {
                let lease = try worker.lease(targets[next % targets.count])
                var free = lease
                free.progressIndex = UInt16(next % 16)
                guard open.allSatisfy({ $0 % 16 != lease.id % 16 }) else { break }
                free.progressIndex = UInt16(lease.id % 16)
                worker.send(.lease(free))
                open.insert(lease.id)
                next += 1
            }
            guard let (message, _) = try worker.next() else { break }
            if case .ended(let end) = message {
                open.remove(end.lease)
                // A byte that arrives after the request went out cannot be told from an answer that came early.
                if case .failed(let failure) = end.outcome { #expect(failure.kind == .connectionLost, "\(failure)") }
            }
        }
        #expect(open.isEmpty)
    }

    @Test("connections without excess are used again, whatever the kind of response")
    func reuse() throws {
        let worker = try TestCoordinator()
        for _ in 0..<3 {
            #expect(try worker.fetch("/bytes/100", .head).failure == nil)
            #expect(try worker.fetch("/status/204").failure == nil)
            #expect(try worker.fetch("/bytes/0").failure == nil)
            #expect(try worker.fetch("/bytes/100?chunked=1").failure == nil)
            let conditional = try worker.fetch("/bytes/100?etag=1") {
                try? $0.fields.append("If-None-Match", "\"b-100-1\"")
            }
            #expect(conditional.head?.status == 304)
            #expect(try worker.fetch("/interim").failure == nil)
            #expect(try worker.fetch("/bytes/100").end.metrics.connection == 1)
        }
    }

    @Test("a lease may ask for a new connection, or for closing its own")
    func connectionFlags() throws {
        let worker = try TestCoordinator()
        #expect(try worker.fetch("/bytes/1").end.metrics.connection == 1)
        #expect(try worker.fetch("/bytes/1") { $0.options.remove(.mayReuseConnection) }.end.metrics.connection == 2)
        let last = try worker.fetch("/bytes/1") { $0.options.remove(.mayKeepConnection) }
        let next = try worker.fetch("/bytes/1")
        #expect(next.end.metrics.connection != last.end.metrics.connection)
    }
}
