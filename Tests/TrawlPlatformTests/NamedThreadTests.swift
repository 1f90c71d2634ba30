import Glibc
import Testing
import TrawlPlatform

/// The field of /proc/thread-self/status, for the calling thread.
private func status(_ field: String) -> String? {
    guard let file = fopen("/proc/thread-self/status", "re") else { return nil }
    defer { fclose(file) }
    var line = [CChar](repeating: 0, count: 512)
    while fgets(&line, 512, file) != nil {
        let text = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        if text.hasPrefix(field + ":") { return String(text.dropFirst(field.count + 1).filter { !$0.isWhitespace }) }
    }
    return nil
}

private func bits(_ signals: [Int32]) -> UInt64 { signals.reduce(0) { $0 | 1 << UInt64($1 - 1) } }

@Suite("Named threads")
struct NamedThreadTests {
    @Test("a thread has its name, and join waits for its end")
    func name() throws {
        let seen = Guarded<String?>(nil)
        let thread = try NamedThread.start(name: "trawl-testing15") { seen.withLock { $0 = status("Name") } }
        thread.join()
        thread.join()
        #expect(seen.withLock { $0 } == "trawl-testing15")
    }

    @Test("a thread knows itself, and nobody else takes itself for it")
    func current() throws {
        let place = Guarded<NamedThread?>(nil)
        let seen = Guarded<Bool?>(nil)
        let thread = try NamedThread.start(name: "current") {
            while true {
                guard let itself = place.withLock({ $0 }) else {
                    sched_yield()
                    continue
                }
                return seen.withLock { $0 = itself.isCurrent }
            }
        }
        #expect(!thread.isCurrent)
        place.withLock { $0 = thread }
        while seen.withLock({ $0 == nil }) { sched_yield() }
        #expect(seen.withLock { $0 } == true && !thread.isCurrent)
        thread.join()
    }

    @Test("signals of the host are blocked on the thread, faults are not, and the caller's mask is as before")
    func mask() throws {
        let before = status("SigBlk")
        let seen = Guarded<String?>(nil)
        let thread = try NamedThread.start(name: "mask") { seen.withLock { $0 = status("SigBlk") } }
        #expect(status("SigBlk") == before)
        thread.join()
        let mask = try #require(UInt64(seen.withLock { $0 } ?? "", radix: 16))
        let blocked = bits([SIGINT, SIGTERM, SIGHUP, SIGCHLD, SIGALRM, SIGUSR1, SIGUSR2, SIGPIPE, SIGPROF, SIGXFSZ])
        #expect(mask & blocked == blocked)
        #expect(mask & bits([SIGSEGV, SIGBUS, SIGABRT, SIGILL, SIGFPE]) == 0)
    }

    @Test("a thread that nobody joins runs on and frees what it holds")
    func detached() throws {
        final class Held: Sendable {
            let wakeUp: WakeUp
            init(_ wakeUp: WakeUp) { self.wakeUp = wakeUp }
            deinit { wakeUp.signal() }
        }
        let wakeUp = try WakeUp()
        let poller = try Poller()
        try poller.add(wakeUp.rawValue, token: 1, interest: .read)
        do {
            let held = Held(wakeUp)
            _ = try NamedThread.start(name: "detached") { withExtendedLifetime(held) {} }
        }
        #expect(try poller.wait(timeout: .seconds(60)) { _ in } == 1)
    }
}
