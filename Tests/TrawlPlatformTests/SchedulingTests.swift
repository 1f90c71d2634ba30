import Glibc
import Testing
import TrawlPlatform

/// Each in a process of its own, whose policy it changes.
@Suite("How processors are shared")
struct SchedulingTests {
    // Numbers of sched(7).
    @Test("throughput is preferred to the usual policy")
    func usual() async {
        await #expect(processExitsWith: .exitCode(0)) {
            // Who runs the tests may have chosen another.
            let before = sched_getscheduler(0)
            Scheduling.preferThroughput()
            exit(sched_getscheduler(0) == (before == 0 ? 3 : before) ? 0 : 1)
        }
    }

    @Test("a policy that somebody chose stays")
    func chosen() async {
        await #expect(processExitsWith: .exitCode(0)) {
            // SCHED_IDLE, which everybody may choose.
            var parameters = sched_param()
            guard sched_setscheduler(0, 5, &parameters) == 0 else { exit(2) }
            Scheduling.preferThroughput()
            exit(sched_getscheduler(0) == 5 ? 0 : 1)
        }
    }
}
