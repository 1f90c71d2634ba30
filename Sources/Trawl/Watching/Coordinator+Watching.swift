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

    /// The path of the socket at which the coordinator tells what it is doing (``Configuration/statusSocket``); nil without one.
    public var statusSocketPath: String? { watcher?.listener?.path }

    /// Why the metrics file could not be written the last time; nil when it could, or none is asked for.
    public var metricsProblem: FetchError? { watcher?.metricsProblem }
}
