import Synchronization
import TrawlPlatform
package import TrawlWatch

extension Coordinator {
    /// What the coordinator is doing now; nil once it is shut down.
    public func status() async -> CoordinatorStatus? {
        let snapshot: EngineSnapshot? = await withCheckedContinuation { continuation in
            let question = StatusQuestion { continuation.resume(returning: $0) }
            if !post(.status(question)) { question.answer(nil) }
        }
        return snapshot.map { CoordinatorStatus($0.report) }
    }

    /// The same, for a thread that may wait a moment; nil, too, when the engine had no time for an answer.
    package func statusBlocking(patience: Duration = .seconds(1)) -> StatusReport? {
        ask(patience: patience)?.report
    }

    /// How many fetches there are, for an indicator that the network is in use: now, and whenever that changes.
    ///
    /// The first fetch is told at once; that there are none is told half a second after the last (ASI-MISC-01). In
    /// between at most four numbers a second are told, and who is slow gets the latest. Fetches of a ``FetchQueue``
    /// count once they have started, answers that come straight from the cache never. The sequence ends with the
    /// coordinator.
    public var activeCount: AsyncStream<Int> {
        AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
            let number = activityNumbers.wrappingAdd(1, ordering: .relaxed).newValue
            continuation.onTermination = { [weak self] _ in self?.post(.unfollow(number)) }
            if !post(.follow(number, continuation)) { continuation.finish() }
        }
    }

    /// Takes the times since they were last taken, with a snapshot; nil when the engine is gone.
    package func snapshotTakingTimes() async -> EngineSnapshot? {
        await withCheckedContinuation { continuation in
            let question = StatusQuestion(takesTimes: true) { continuation.resume(returning: $0) }
            if !post(.status(question)) { question.answer(nil) }
        }
    }

    /// What the engine left at its end, for which this waits; nil when nobody had times taken.
    package func lastSnapshot() async -> EngineSnapshot? {
        await ended.wait()
        return last.snapshot.withLock { $0 }
    }

    /// The path of the socket at which the coordinator tells what it is doing (``Configuration/statusSocket``); nil
    /// without one.
    public var statusSocketPath: String? { watcher?.listener?.path }

    /// Why the metrics file could not be written the last time; nil when it could, or none is asked for.
    public var metricsProblem: FetchError? { watcher?.metricsProblem }
}
