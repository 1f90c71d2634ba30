import TrawlPlatform

/// Where the answer of a fetch arrives, once.
final class OutcomeCell: Sendable {
    typealias Answer = Result<Response, FetchError>

    private struct State {
        var answer: Answer?
        var waiters: [CheckedContinuation<Answer, Never>] = []
        var blocked: [WakeUpGate] = []
    }

    private let state = Guarded(State())

    /// Gives the answer to all who wait and will wait.
    /// - Returns: False when there was one already.
    @discardableResult
    func resolve(_ answer: Answer) -> Bool {
        let waiting: State? = state.withLock { state in
            guard state.answer == nil else { return nil }
            let waiting = state
            state = State(answer: answer)
            return waiting
        }
        guard let waiting else { return false }
        for waiter in waiting.waiters { waiter.resume(returning: answer) }
        for gate in waiting.blocked { gate.open() }
        return true
    }

    /// The answer, when it is there.
    var answer: Answer? { state.withLock { $0.answer } }

    /// Waits for the answer.
    func wait() async -> Answer {
        await withCheckedContinuation { continuation in
            let answer: Answer? = state.withLock { state in
                if let answer = state.answer { return answer }
                state.waiters.append(continuation)
                return nil
            }
            if let answer { continuation.resume(returning: answer) }
        }
    }

    /// Blocks the calling thread until the answer is there.
    func waitBlocking() -> Answer {
        let gate = WakeUpGate()
        let answer: Answer? = state.withLock { state in
            if let answer = state.answer { return answer }
            state.blocked.append(gate)
            return nil
        }
        if let answer { return answer }
        gate.wait()
        guard let answer = self.answer else { preconditionFailure("the gate opened without an answer") }
        return answer
    }
}
