import TrawlHTTP
import TrawlPlatform

/// The driver's turns.
extension Supervisor {
    /// A driver and what it waits for.
    struct Driving {
        let driver: any FetchDriver
        /// Opened when the driver is done.
        let done: WakeUpGate
        /// Answers since its last turn.
        var answers: [FetchAnswer] = []
        var input: Int32?
        var wakeAt: MonotonicInstant?
    }

    /// Calls the driver, and starts what it wants started.
    mutating func drive() {
        guard let driving else { return }
        self.driving?.answers = []
        let turn = driving.driver.turn(driving.answers, at: now)
        if turn.isFinished {
            wait(for: nil, insteadOf: driving.input)
            self.driving = nil
            driving.done.open()
            return
        }
        if turn.input != driving.input {
            wait(for: turn.input, insteadOf: driving.input)
            self.driving?.input = turn.input
        }
        self.driving?.wakeAt = turn.wakeAt
        for fetch in turn.start { submit(fetch.running) }
    }

    /// When the driver is to have its next turn at the latest; nil when events alone decide.
    var nextDriverTurn: MonotonicInstant? {
        guard let driving else { return nil }
        // Fetches may be answered while they are submitted: the engine is down.
        return driving.answers.isEmpty ? driving.wakeAt : now
    }

    /// Nothing will be fetched any more: lets the driver come to its end.
    mutating func finishDriving() {
        while driving != nil { drive() }
    }

    private mutating func wait(for input: Int32?, insteadOf old: Int32?) {
        if let old { try? poller.remove(old) }
        guard let input else { return }
        do throws(SystemError) {
            try poller.add(input, token: Token.driverInput, interest: .read)
        } catch {
            // What cannot be polled never has to be waited for; the driver is asked again at the next turn.
            driving?.wakeAt = now
        }
    }
}
