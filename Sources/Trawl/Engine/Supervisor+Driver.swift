import TrawlHTTP
import TrawlPlatform
import TrawlSupervision

/// The driver's turns.
extension Supervisor {
    /// Calls the driver, and starts what it wants started.
    mutating func drive() {
        guard let driving else { return }
        let turn = driving.driver.turn(
            driving.takeAnswers(), at: now, hasIdleWorkers: driving.hasIdleWorkers, waiting: parked.count)
        if turn.isFinished {
            wait(for: nil, in: driving)
            self.driving = nil
            driving.done.open()
            return
        }
        if turn.input != driving.input { wait(for: turn.input, in: driving) }
        driving.wakeAt = turn.wakeAt
        driving.hasStarted = !turn.start.isEmpty
        for fetch in turn.start { submit(fetch.running) }
    }

    /// Notes whether the driver's fetches left much room, when as many have been leased as can be. A little is always
    /// left where several hosts have all they may.
    func noteRoom() {
        let room = min(leases.freeCapacity, configuration.transfersInAll - leases.heldCount)
        driving?.hasIdleWorkers = room > leases.heldCount / 3
    }

    /// When the driver is to have its next turn at the latest; nil when events alone decide.
    var nextDriverTurn: MonotonicInstant? {
        guard let driving else { return nil }
        // Fetches may be answered while they are submitted: the engine is down.
        if !driving.answers.isEmpty { return now }
        return driving.hasIdleWorkers && driving.hasStarted ? now : driving.wakeAt
    }

    /// Nothing will be fetched any more: lets the driver come to its end.
    mutating func finishDriving() {
        while driving != nil { drive() }
    }

    private func wait(for input: Int32?, in driving: Driving) {
        if let old = driving.input { try? poller.remove(old) }
        driving.input = nil
        guard let input else { return }
        // What cannot be polled, such as a regular file, never has to be waited for.
        if (try? poller.add(input, token: Token.driverInput, interest: .read)) != nil { driving.input = input }
    }
}

/// A driver and what it waits for.
///
/// Bound to the supervisor thread.
final class Driving {
    let driver: any FetchDriver
    /// Opened when the driver is done.
    let done: WakeUpGate
    /// Answers since its last turn.
    private(set) var answers: [FetchAnswer] = []
    /// The descriptor that is polled for it.
    var input: Int32?
    var wakeAt: MonotonicInstant?
    /// Whether its last turn started fetches, and whether those left room for more.
    var hasStarted = false
    var hasIdleWorkers = false

    init(_ driver: any FetchDriver, done: WakeUpGate) {
        self.driver = driver
        self.done = done
    }

    func add(_ answer: FetchAnswer) {
        answers.append(answer)
    }

    func takeAnswers() -> [FetchAnswer] {
        defer { answers = [] }
        return answers
    }
}
