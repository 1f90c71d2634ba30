import Foundation
import Glibc
import Testing

@Suite("Servers of tests that are killed", .timeLimit(.minutes(2)))
struct ServerWatchTests {
    @Test("none stays, nor what it started, and the loopback origin neither")
    func killed() async throws {
        await #expect(processExitsWith: .signal(SIGKILL)) {
            // What the process that looks for them knows them by.
            let mark = "\(10_000 + getppid() % 70_000)"
            let server = try ChildProcess("/bin/sh", ["-c", "sleep \(mark) & exec sleep \(mark)"], isServer: true)
            let ended = try ChildProcess("/bin/sleep", [mark], isServer: true)
            ended.signal(SIGKILL)
            ended.end()
            let origin = try LoopbackOriginProcess(arguments: ["--lifetime", mark])
            try #require(await eventually { ProcessTree.count(withArgument: mark) == 3 })
            try #require(server.isRunning && origin.port > 0)
            kill(getpid(), SIGKILL)
        }
        let isGone = await eventually { ProcessTree.count(withArgument: "\(10_000 + getpid() % 70_000)") == 0 }
        #expect(isGone)
    }
}
