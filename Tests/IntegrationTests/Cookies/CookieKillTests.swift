import Foundation
import Glibc
import TestSupport
import Testing

/// N processes storing M cookies give N × M cookies.
@Suite("Cookies of many processes, ASI-COOK-01", .serialized, .timeLimit(.minutes(5)))
struct CookieKillTests {
    @Test("all are there, although workers are killed meanwhile")
    func kills() async throws {
        let directory = try TemporaryDirectory()
        let (processes, each) = (4, runsLongTests ? 240 : 60)
        try await withOrigin { origin in
            var runs: [ChildProcess] = []
            for number in 0..<processes {
                let urls = (0..<each).map {
                    origin.url("/delay/3?field=Set-Cookie:%20p\(number)c\($0)=1%3bMax-Age=600")
                }
                try directory.put("list\(number)", Array(urls.joined(separator: "\n").utf8))
                runs.append(
                    try ChildProcess(
                        try BuiltProducts.trawl(),
                        [
                            "batch", directory.file("list\(number)"), "--store", directory.file("store"), "--no-files",
                            "--results", directory.file("results\(number)"), "--workers", "2", "-j", "8",
                        ], errors: directory.file("errors\(number)")))
            }
            for turn in 0..<12 {
                try await Task.sleep(for: .milliseconds(25))
                let workers = ProcessTree.children(of: runs[turn % processes].pid).sorted()
                if let worker = workers.first { kill(worker, SIGKILL) }
            }
            for run in runs {
                #expect(await eventually(within: .seconds(180)) { !run.isRunning })
                #expect(run.exitStatus(within: 1000) == 0)
            }
            let list = try CommandRun(["cookies", "ls", "--json", "--store", directory.file("store")])
            #expect(list.output.split(separator: 0x0A).count == processes * each, "\(list.errors)")
        }
    }
}
