import TrawlFrontier
import TrawlPlatform

/// Carrying out what the machine says: by one task at a time, so that everything is told in its order.
extension FetchQueue {
    private enum Work {
        case start(QueueMachine.FetchID, forSize: Bool)
        case cancel(RunningFetch?)
        case goOn(RunningFetch?)
        /// Who was to decide for a fetch that has ended: what a program gave is let go of outside of the lock.
        case letGo((any FetchDecisions)?)
        case nothing
    }

    /// Lets the machine's actions be carried out, by whoever does that now, or else by a new task; where there are
    /// none, as when a fetch is added to a queue that is suspended or full, by nobody.
    func pump() {
        let isNeeded = state.withLock { state in
            guard !state.isPumping, state.machine.hasWork else { return false }
            state.isPumping = true
            return true
        }
        if isNeeded { Task { drain() } }
    }

    private func drain() {
        while let work = nextWork() {
            tellReaders()
            switch work {
            case .nothing, .letGo: break
            case .start(let id, let forSize): start(id, forSize: forSize)
            case .cancel(let running):
                if let running { coordinator.post(.cancel(running)) }
            case .goOn(let running):
                if let running { coordinator.post(.controlChanged(running)) }
            }
        }
    }

    private func nextWork() -> Work? {
        state.withLock { state -> Work? in
            guard let action = state.machine.next() else {
                state.isPumping = false
                return nil
            }
            switch action {
            case .start(let id):
                state.begin(id)
                return .start(id, forSize: false)
            case .startSizing(let id):
                state.begin(id)
                return .start(id, forSize: true)
            case .goOn(let id): return .goOn(state.goOn(id))
            case .cancel(let id), .cancelSizing(let id):
                state.handles[id]?.control.noteCancelled()
                return .cancel(state.runs[id]?.running)
            case .resetProgress:
                state.tellProgress(at: MonotonicClock.now())
                return .nothing
            case .tellFinished(let id, _): return .letGo(state.conclude(id, because: nil))
            case .tellFailed(let id, let reason, _): return .letGo(state.conclude(id, because: reason))
            case .tellQueueFinished:
                state.concludeAll()
                return .nothing
            }
        }
    }

    private func start(_ id: QueueMachine.FetchID, forSize: Bool) {
        guard let launch = state.withLock({ $0.launch(id, forSize: forSize) }) else {
            // It is refused, or the queue was reset meanwhile.
            return state.withLock { $0.change { forSize ? $0.sizingEnded(id, .failed) : $0.ended(id, .failed) } }
        }
        let sink = QueueRun(id, of: self, forSize: forSize, handle: launch.channel)
        if !forSize {
            sink.post(.started)
            state.withLock { state in if state.isFollowed(id) { state.readers.tell(.started(name(id))) } }
            tellReaders()
        }
        do throws(FetchError) {
            let (control, cancelsTogether) = state.withLock {
                ($0.runs[id]?.control, $0.settings.cancelsOthersOnFailure)
            }
            let plan = try coordinator.planner.plan(launch.request, into: launch.destination, wantsEvents: true)
            let running = RunningFetch(
                plan: plan, reply: .cell(OutcomeCell()), channel: sink, decisions: launch.decisions,
                cancelsTogether: cancelsTogether, isAskedFor: !forSize, control: control)
            state.withLock { $0.runs[id]?.running = running }
            coordinator.submit(running)
        } catch {
            sink.post(.ended(.failure(error)))
        }
    }
}
