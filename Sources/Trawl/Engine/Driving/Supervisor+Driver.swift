import TrawlHTTP
import TrawlPlatform
import TrawlSupervision

/// The driver's turns.
extension Supervisor {
    /// Calls the driver, and starts what it wants started.
    mutating func drive() {
        guard let driving else { return }
        driving.load.waiting = parked.count + networkWaits.count
        let turn = driving.driver.turn(driving.answers, at: now, driving.load)
        driving.answers.removeAll(keepingCapacity: true)
        if turn.isFinished {
            wait(for: nil, in: driving)
            self.driving = nil
            driving.done.open()
            return
        }
        if turn.input != driving.input { wait(for: turn.input, in: driving) }
        driving.wakeAt = turn.wakeAt
        driving.wantsRoom = turn.wantsRoom
        driving.hasStarted = !turn.start.isEmpty
        for fetch in turn.start { submit(fetch.running) }
    }

    /// Notes whether the driver's fetches left room, and much of it, when as many have been leased as can be. A little
    /// is always left where several hosts have all they may.
    func noteRoom() {
        guard let driving else { return }
        // Those that left the last leases to others would take them.
        let room = freeLeases - limitedHops.count
        driving.load.hasRoom = room > 0
        driving.load.hasIdleWorkers = room > leases.heldCount / 3
    }

    /// When the driver is to have its next turn at the latest; nil when events alone decide.
    var nextDriverTurn: MonotonicInstant? {
        guard let driving else { return nil }
        // Fetches may be answered while they are submitted: the engine is down.
        if !driving.answers.isEmpty { return now }
        if driving.load.hasIdleWorkers && driving.hasStarted || driving.load.hasRoom && driving.wantsRoom { return now }
        return driving.wakeAt
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
    let readsMetrics: Bool
    /// Opened when the driver is done.
    let done: WakeUpGate
    /// Answers since its last turn. One thread's, as the rest, and never lent while they are used otherwise.
    @exclusivity(unchecked)
    var answers: [FetchAnswer] = []
    /// The descriptor that is polled for it.
    var input: Int32?
    var wakeAt: MonotonicInstant?
    /// Whether its last turn started fetches, and what those left.
    var hasStarted = false
    @exclusivity(unchecked)
    var load = DriverLoad()
    /// Whether it waits for room.
    var wantsRoom = false

    init(_ driver: any FetchDriver, done: WakeUpGate) {
        self.driver = driver
        readsMetrics = driver.readsMetrics
        self.done = done
    }
}
