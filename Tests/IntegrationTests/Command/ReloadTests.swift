import Foundation
import Glibc
import TestSupport
import Testing

@Suite("SIGHUP reads options again", .serialized, .timeLimit(.minutes(3)))
struct ReloadTests {
    @Test("a batch takes its limit of bandwidth from the file that -K names, whenever it is told to")
    func batch() async throws {
        let bed = try BatchBed()
        try await withOrigin { origin in
            let items = (0..<4).map { number in
                BatchBed.Item(
                    origin.url("/bytes/300000?seed=\(number)"),
                    body: ReferenceBytes.bytes(300_000, seed: UInt64(number)))
            }
            try bed.putList(items.map(\.line))
            try bed.directory.put("config", Array("limit-rate = 20k\n".utf8))
            let run = try bed.start(["-K", bed.directory.file("config")])
            // A minute at that rate.
            #expect(await eventually { !ProcessTree.children(of: run.pid).isEmpty })
            // What is wrong changes nothing.
            try bed.directory.put("config", Array("limit-rate = nothing\n".utf8))
            run.signal(SIGHUP)
            #expect(await eventually { bed.errors.contains("the limit of bandwidth stays as it is") })
            #expect(run.isRunning)
            // Nor does a pipe that nobody writes to, which would be waited for.
            let config = bed.directory.file("config")
            #expect(unlink(config) == 0 && mkfifo(config, 0o600) == 0)
            run.signal(SIGHUP)
            #expect(await eventually { bed.errors.contains("no regular file any more") })
            #expect(unlink(config) == 0)
            try bed.directory.put("config", Array("limit-rate = 1G\n".utf8))
            run.signal(SIGHUP)
            #expect(await eventually { !run.isRunning })
            #expect(run.exitStatus(within: 1) == 0, "\(bed.errors)")
            #expect(bed.errors.contains("limit now 1073741824 bytes/s"))
            try bed.expectComplete(items)
        }
    }

    @Test("without such a file SIGHUP ends a run")
    func ends() async throws {
        let bed = try BatchBed()
        try await withOrigin { origin in
            try bed.putList([origin.url("/delay/60000")])
            let run = try bed.start(["--limit-rate", "20k"])
            #expect(await eventually { !ProcessTree.children(of: run.pid).isEmpty })
            await run.signalTwice(SIGHUP)
            #expect(await eventually { !run.isRunning })
            #expect(run.exitStatus(within: 1) == 75, "\(bed.errors)")
        }
    }
}
