import TrawlHTTP
import TrawlSupervision

/// The worker slots of a coordinator, and who is in them.
///
/// Everything here is there once for each slot. A slot has a link from the start of a worker to its end.
struct WorkerPool {
    /// The lives of the slots.
    var slots: [WorkerSlot]
    /// Who is in them.
    var links: [WorkerLink?]
    /// When the next worker starts, where that is not now.
    private var restarts: [MonotonicInstant?]
    /// What each slot's last worker was refused for, for the error a caller sees when the engine is down.
    private var refusals: [String?]
    /// The call that kept the latest worker from starting.
    private var failedCall: (name: String, errno: Int32)?
    /// Slots whose workers are to be sent something.
    private(set) var dirty: [Int] = []

    /// Slots without workers.
    init(_ count: Int, _ policy: RestartPolicy) {
        slots = (0..<count).map { _ in WorkerSlot(policy: policy) }
        links = Array(repeating: nil, count: count)
        restarts = Array(repeating: nil, count: count)
        refusals = Array(repeating: nil, count: count)
    }

    /// Whether no worker is left.
    var isEmpty: Bool { links.allSatisfy { $0 == nil } }

    // MARK: Restarts

    /// When the first of the workers starts that are to start later; nil when none is.
    var earliestRestart: MonotonicInstant? {
        var earliest: MonotonicInstant?
        for time in restarts {
            guard let time else { continue }
            if let known = earliest, known <= time { continue }
            earliest = time
        }
        return earliest
    }

    /// The next worker of a slot starts at that time; nil is not at all.
    mutating func restart(_ slot: Int, at time: MonotonicInstant?) { restarts[slot] = time }

    /// Whether the next worker of a slot is to start now, which is told once.
    mutating func takeRestart(_ slot: Int, dueAt now: MonotonicInstant) -> Bool {
        guard let time = restarts[slot], time <= now else { return false }
        restarts[slot] = nil
        return true
    }

    // MARK: Refusals

    /// The worker of a slot is refused.
    mutating func noteRefusal(_ slot: Int, _ reason: String) { refusals[slot] = reason }

    /// What a worker was refused for; nil when none was.
    var refusal: String? { refusals.lazy.compactMap { $0 }.first }

    /// A worker could not be started.
    mutating func noteFailedStart(_ call: String, _ errno: Int32) { failedCall = (call, errno) }

    /// The call before or after that of the executable which gave this number last; nil when it was that of the
    /// executable.
    func callThatFailed(with errno: Int32) -> String? {
        guard let failedCall, failedCall.errno == errno, failedCall.name != "posix_spawn" else { return nil }
        return failedCall.name
    }

    // MARK: What is to be sent

    /// The worker of a slot is to be sent something at the end of the turn.
    mutating func markDirty(_ slot: Int) {
        // Most leases of a turn are for a few workers, in turns.
        if !dirty.contains(slot) { dirty.append(slot) }
    }

    /// All was sent that could be.
    mutating func clearDirty() { dirty.removeAll(keepingCapacity: true) }
}
