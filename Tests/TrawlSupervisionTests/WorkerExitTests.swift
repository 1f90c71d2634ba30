import Testing
import TrawlSupervision

@Suite("Worker exits")
struct WorkerExitTests {
    @Test(
        "exits that may be the fault of a hop are crashes",
        arguments: [4, 5, 6, 7, 8, 11, 13, 24, 25, 31].map { WorkerExit.signalled(signal: $0) } + [
            .exited(status: 1), .exited(status: 70), .exited(status: 127), .exited(status: -1), .outOfMemory, .unknown,
            .killedByUs(.garbage), .killedByUs(.silentHeartbeat),
        ])
    func crashes(exit: WorkerExit) {
        #expect(exit.isCrash)
    }

    @Test(
        "exits that somebody asked for are no crashes",
        arguments: [1, 2, 3, 9, 10, 12, 14, 15, 34, 64].map { WorkerExit.signalled(signal: $0) } + [
            .exited(status: 0), .exited(status: 71), .exited(status: 78),
            .killedByUs(.startDeadline), .killedByUs(.shutdown), .killedByUs(.retired),
            .killedByUs(.shortage),
        ])
    func others(exit: WorkerExit) {
        #expect(!exit.isCrash)
    }
}
