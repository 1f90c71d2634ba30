import Glibc
import Testing

@testable import TrawlPlatform

@Suite("Lookups of names", .timeLimit(.minutes(10)))
struct NameLookupTests {
    @Test("a call that was given up counts until it has ended, and no longer")
    func accounting() async throws {
        let calls = BoundedCalls()
        let gate = try WakeUp()
        for _ in 0..<BoundedCalls.mostAbandoned {
            let answer = calls.run(within: .zero) {
                var watched = pollfd(fd: gate.rawValue, events: Int16(POLLIN), revents: 0)
                while poll(&watched, 1, -1) != 1 {}
                return "late"
            }
            #expect(answer == nil)
        }
        #expect(calls.run(within: .seconds(10)) { "one too many" } == nil)
        gate.signal()
        var answer: String?
        while answer == nil {
            answer = calls.run(within: .seconds(60)) { "there is room" }
            await Task.yield()
        }
        #expect(answer == "there is room")
    }

    @Test("an answer that comes as the time is over is there or not, and the next is not mixed up with it")
    func race() {
        let calls = BoundedCalls()
        for number in 0..<500 {
            let text = "\(number)"
            let answer = calls.run(within: .microseconds(number % 100)) { text }
            #expect(answer == nil || answer == text)
        }
    }

    @Test("time in which the process was stopped is not the call's")
    func stopped() async {
        await #expect(processExitsWith: .exitCode(0)) {
            // With a longer one where the machine alone took the call so long.
            for limit in [3, 12, 40] {
                // For longer than the limit, while the call is under way.
                _ = system("(kill -STOP $PPID; sleep \(limit + 1); kill -CONT $PPID) &")
                let calls = BoundedCalls()
                let answer = calls.run(within: .seconds(limit)) {
                    for _ in 0..<100 { usleep(10_000) }
                    return "there"
                }
                if answer == "there" { exit(0) }
            }
            exit(1)
        }
    }

    @Test("a name stands for its addresses, an address for itself, and what is no name for nothing")
    func addresses() {
        #expect(NameLookup.addresses(of: "localhost", ipv4Only: true, within: .seconds(60)) == "127.0.0.1")
        #expect(NameLookup.addresses(of: "192.0.2.7", ipv4Only: true, within: .seconds(60)) == "192.0.2.7")
        #expect(NameLookup.addresses(of: "a\0b", ipv4Only: true, within: .seconds(60)) == nil)
        #expect(
            NameLookup.addresses(of: String(repeating: "a", count: 256), ipv4Only: true, within: .seconds(60)) == nil)
    }
}
