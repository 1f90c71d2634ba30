import Foundation
import Glibc
import Testing

extension Process {
    /// Runs it to its end, as ``waitForEnd(within:sourceLocation:)`` has it.
    func runToEnd(
        within limit: Duration = .seconds(180), sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        try run()
        waitForEnd(within: limit, sourceLocation: sourceLocation)
    }

    /// Waits for its end. One that does not come to it in time hangs: it is killed, and that is an issue.
    ///
    /// A time limit of a test is not enough: it cancels the test and waits for it, which a blocked thread does not
    /// notice. When the tests are killed meanwhile, so is it.
    func waitForEnd(within limit: Duration = .seconds(180), sourceLocation: SourceLocation = #_sourceLocation) {
        let deadline = ContinuousClock.now + limit
        // It leads a process group, for what it starts too.
        let group = processIdentifier
        ServerWatch.shared.add(group)
        while isRunning {
            if ContinuousClock.now >= deadline {
                let words = [executableURL?.lastPathComponent ?? ""] + (arguments ?? [])
                Issue.record("hangs: \(words.joined(separator: " "))", sourceLocation: sourceLocation)
                kill(-group, SIGKILL)
                break
            }
            usleep(1000)
        }
        waitUntilExit()
        ServerWatch.shared.remove(group)
    }
}
