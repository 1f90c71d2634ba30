import Glibc
import Testing
import TrawlHTTP
import TrawlPlatform

@Suite("Poller")
struct PollerTests {
    private func events(_ poller: Poller, timeout: Duration? = .zero) throws -> [Poller.Event] {
        var events: [Poller.Event] = []
        let count = try poller.wait(timeout: timeout) { events.append($0) }
        #expect(count == events.count)
        return events
    }

    @Test("events carry the token and say what is ready")
    func events() throws {
        let pair = try ControlSocket.pair()
        let poller = try Poller()
        try poller.add(pair.here.rawValue, token: .max, interest: .read)
        #expect(try events(poller).isEmpty)

        _ = try withBytes("x") { try ControlSocket.send(pair.there.rawValue, $0) }
        let readable = try events(poller, timeout: nil)
        #expect(readable.map(\.token) == [.max])
        #expect(readable.allSatisfy { $0.isReadable && !$0.isWritable && !$0.isHungUp })

        try poller.modify(pair.here.rawValue, token: 3, interest: [.read, .write])
        #expect(try events(poller).map { [$0.token == 3, $0.isReadable, $0.isWritable] } == [[true, true, true]])

        try poller.remove(pair.here.rawValue)
        #expect(try events(poller).isEmpty)
    }

    @Test("a closed peer is readable and hung up")
    func hangUp() throws {
        let pair = try ControlSocket.pair()
        let poller = try Poller()
        try poller.add(pair.here.rawValue, token: 1, interest: [])
        let here = pair.keepingHere()
        // A child of another test that is between fork and exec holds the other end for a moment.
        #expect(try events(poller, timeout: .seconds(60)).map { [$0.isReadable, $0.isHungUp] } == [[true, true]])
        try poller.remove(here.rawValue)
    }

    @Test("adding twice and removing what is not there are errors")
    func misuse() throws {
        let pair = try ControlSocket.pair()
        let poller = try Poller()
        try poller.add(pair.here.rawValue, token: 1, interest: .read)
        #expect(errorNumber { try poller.add(pair.here.rawValue, token: 1, interest: .read) } == EEXIST)
        #expect(errorNumber { try poller.remove(pair.there.rawValue) } == ENOENT)
    }

    @Test("a wait is never shorter than its timeout")
    func timeout() throws {
        let poller = try Poller()
        let before = MonotonicClock.now()
        #expect(try events(poller, timeout: .microseconds(2500)).isEmpty)
        #expect(before.duration(to: MonotonicClock.now()) >= .microseconds(2500))
        #expect(try events(poller, timeout: .seconds(-1)).isEmpty)
    }

    @Test("a wake-up ends the wait, many count as one, and a drain ends it")
    func wakeUp() throws {
        let wakeUp = try WakeUp()
        let poller = try Poller()
        try poller.add(wakeUp.rawValue, token: 9, interest: .read)
        wakeUp.drain()
        let thread = try NamedThread.start(name: "waker") {
            for _ in 0..<1000 { wakeUp.signal() }
        }
        #expect(try events(poller, timeout: .seconds(60)).map(\.token) == [9])
        thread.join()
        wakeUp.drain()
        #expect(try events(poller).isEmpty)
    }

    /// Has the calling thread interrupted every 3 ms from now on.
    private static func beInterrupted() throws {
        var action = sigaction()
        action.__sigaction_handler.sa_handler = { _ in }
        sigaction(SIGALRM, &action, nil)
        // Threads of a pool block it.
        var alarms = sigset_t()
        sigemptyset(&alarms)
        sigaddset(&alarms, SIGALRM)
        pthread_sigmask(SIG_UNBLOCK, &alarms, nil)
        let thread = pthread_self()
        _ = try NamedThread.start(name: "alarms") {
            while true {
                usleep(3000)
                pthread_kill(thread, SIGALRM)
            }
        }
    }

    @Test("what has passed before a signal counts: a wait of an hour that began an hour ago is over")
    func interruptedLate() async {
        await #expect(processExitsWith: .exitCode(0)) {
            try Self.beInterrupted()
            let poller = try Poller()
            let end = MonotonicClock.now().advanced(by: .milliseconds(20))
            let start = end.advanced(by: .seconds(-3600))
            let count = try poller.wait(until: end, at: start) { _ in }
            exit(count == 0 && MonotonicClock.now() >= end ? 0 : 1)
        }
    }

    @Test("signals do not cut a wait short")
    func interrupted() async {
        await #expect(processExitsWith: .exitCode(0)) {
            try Self.beInterrupted()
            let poller = try Poller()
            let before = MonotonicClock.now()
            let count = try poller.wait(timeout: .milliseconds(80)) { _ in }
            exit(count == 0 && before.duration(to: MonotonicClock.now()) >= .milliseconds(80) ? 0 : 1)
        }
    }
}
