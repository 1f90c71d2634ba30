import Glibc
import TestSupport
import Testing

@testable import Trawl

/// In processes of their own: what goes wrong here ends them. Such times have no description.
@Suite("Limits of time that a program writes for ever")
struct FirstAnswerTests {
    private static let eternities = [Duration.seconds(Int64.max), Duration.seconds(Int64.max) * 8]

    @Test("a task sleeps for any time, until it is cancelled")
    func sleep() async {
        await #expect(processExitsWith: .success) {
            for time in Self.eternities {
                let executor = AskingExecutor {}
                let sleeping = Task(executorPreference: executor) { try await Task.sleep(forAnyTime: time) }
                while !executor.isIdle { await Task.yield() }
                sleeping.cancel()
                let result = await sleeping.result
                #expect(throws: CancellationError.self) { try result.get() }
            }
        }
    }

    @Test("an answer is waited for as long")
    func answer() async {
        await #expect(processExitsWith: .success) {
            for limit in Self.eternities {
                let answer = await FirstAnswer.within(limit) {
                    // The limit begins to run meanwhile.
                    try? await Task.sleep(for: .milliseconds(50))
                    return true
                }
                #expect(answer == true)
            }
        }
    }

    @Test("time in which the process was stopped is not the program's")
    func stopped() async {
        await #expect(processExitsWith: .exitCode(0)) {
            // With a longer limit where the machine alone took the answer so long.
            for limit in [4, 15, 50] {
                _ = system("(kill -STOP $PPID; sleep \(limit + 1); kill -CONT $PPID) &")
                let answer = await FirstAnswer.within(.seconds(limit)) {
                    // So much of it is left when the process goes on.
                    for _ in 0..<20 { try? await Task.sleep(for: .milliseconds(50)) }
                    return true
                }
                if answer == true { exit(0) }
            }
            exit(1)
        }
    }

    @Test("and who gives up is told")
    func cancelled() async {
        await #expect(processExitsWith: .success) {
            for limit in Self.eternities {
                let asking = Task {
                    while !Task.isCancelled { await Task.yield() }
                    return await ProgramAnswer.about("it", nil, within: limit) { true }
                }
                asking.cancel()
                let answer = await asking.value
                #expect(throws: FetchError.self) { try answer.get() }
            }
        }
    }
}
