import TrawlPlatform

/// Opens once; tasks and threads wait for it.
final class EndGate: Sendable {
    private struct State {
        var isOpen = false
        var waiters: [CheckedContinuation<Void, Never>] = []
        var blocked: [WakeUpGate] = []
    }

    private let state = Guarded(State())

    func open() {
        let waiting = state.withLock { state in
            let waiting = state
            state = State(isOpen: true)
            return waiting
        }
        for waiter in waiting.waiters { waiter.resume() }
        for gate in waiting.blocked { gate.open() }
    }

    func wait() async {
        await withCheckedContinuation { continuation in
            let isOpen = state.withLock { state in
                if !state.isOpen { state.waiters.append(continuation) }
                return state.isOpen
            }
            if isOpen { continuation.resume() }
        }
    }

    /// As ``wait()``, blocking the calling thread.
    func waitBlocking() {
        let gate = WakeUpGate()
        let isOpen = state.withLock { state in
            if !state.isOpen { state.blocked.append(gate) }
            return state.isOpen
        }
        if !isOpen { gate.wait() }
    }
}
