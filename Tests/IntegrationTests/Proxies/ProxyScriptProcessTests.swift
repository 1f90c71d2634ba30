import Foundation
import TestSupport
import Testing
import Trawl

@Suite("The process of a proxy script", .serialized, .timeLimit(.minutes(2)))
struct ProxyScriptProcessTests {
    /// A request whose script never comes to an end.
    private func request(_ url: String, in directory: TemporaryDirectory) throws -> Request {
        try directory.put("p.pac", Array("function FindProxyForURL() { for (;;) {} }".utf8))
        var request = Request(url)
        request.options.proxy = ProxyPolicy(script: directory.file("p.pac"))
        return request
    }

    @Test("a script that never comes to an end does not hold up the end of its coordinator")
    func ending() async throws {
        // A busy machine may need long for the end itself: one try is enough.
        var least = try await timeOfEnding()
        for _ in 0..<2 where least >= .seconds(3) { least = try await timeOfEnding() }
        // It might go on for five.
        #expect(least < .seconds(3))
    }

    /// How long the end of a coordinator takes whose script goes on.
    private func timeOfEnding() async throws -> Duration {
        let directory = try TemporaryDirectory()
        let clock = ContinuousClock()
        let isOver: ContinuousClock.Instant = try await withTestCoordinator(workers: 1) { coordinator in
            let fetch = coordinator.start(try request("http://a.test/", in: directory))
            let isAsked = await eventually {
                ProcessTree.children(withArgument: "pac").contains { ProcessTree.status("Seccomp", of: $0) == "2" }
            }
            #expect(isAsked)
            fetch.cancel()
            return clock.now
        }
        let time = clock.now - isOver
        #expect(ProcessTree.children(withArgument: "pac").isEmpty)
        return time
    }

    @Test(
        "a script that never comes to an end costs so much for three origins, and then nothing",
        .enabled(if: runsLongTests, "takes minutes"))
    func loops() async throws {
        let directory = try TemporaryDirectory()
        try await withOrigin { origin in
            try await withTestCoordinator { coordinator in
                let clock = ContinuousClock()
                let start = clock.now
                for number in 1...9 {
                    let url = origin.url("/anything").replacingOccurrences(of: "127.0.0.1", with: "127.0.0.\(number)")
                    // Not all of them need an origin: the script is asked about each.
                    _ = try? await coordinator.send(request(url, in: directory))
                }
                #expect(clock.now - start < .seconds(25))
                #expect(coordinator.proxyScriptProblem != nil)
            }
        }
    }

    @Test("the process of a script has neither files nor processes nor privileges to gain, and its end is no fault")
    func confined() async throws {
        let directory = try TemporaryDirectory()
        try await withOrigin { origin in
            try await withTestCoordinator(workers: 1) { coordinator in
                let url = origin.url("/anything")
                let fetch = coordinator.start(try request(url, in: directory))
                let found = Locked<Int32?>(nil)
                // The filter of system calls is the last of it.
                let isConfined = await eventually {
                    let child = ProcessTree.children(withArgument: "pac").first {
                        ProcessTree.status("Seccomp", of: $0) == "2"
                    }
                    found.withLock { $0 = child }
                    return child != nil
                }
                #expect(isConfined)
                if let child = found.withLock({ $0 }) {
                    #expect(ProcessTree.status("NoNewPrivs", of: child) == "1")
                    for name in ["Max open files", "Max processes", "Max file size", "Max core file size"] {
                        #expect(ProcessTree.limits(name, of: child) == ["0", "0"], "\(name)")
                    }
                    kill(child, SIGKILL)
                }
                let text = try await fetch.response.bodyText
                #expect(text.contains("/anything") && coordinator.proxyScriptProblem != nil)
            }
        }
        #expect(ProcessTree.children(withArgument: "pac").isEmpty)
    }
}
