import TrawlPlatform

/// Opens once; tasks and threads wait for it, and others are called.
final class EndGate: Sendable {
    private struct State {
        var isOpen = false
        var waiters: [CheckedContinuation<Void, Never>] = []
        var blocked: [WakeUpGate] = []
        var listeners: [UInt64: @Sendable () -> Void] = [:]
    }

    private let state = Guarded(State())

    func open() {
        let waiting = state.withLock { state in
            let waiting = state
            state = State(isOpen: true)
            return waiting
        }
        // First: who has waited finds done what they do.
        for listener in waiting.listeners.values { listener() }
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

    /// Calls `body` when it opens, on the thread that opens it; at once when it is open.
    ///
    /// - Parameter number: To take it back by; no other listener's.
    func whenOpen(_ number: UInt64, _ body: @escaping @Sendable () -> Void) {
        let isOpen = state.withLock { state in
            if !state.isOpen { state.listeners[number] = body }
            return state.isOpen
        }
        if isOpen { body() }
    }

    /// A listener need not be called any more; it may be under way.
    func forget(_ number: UInt64) {
        // Let go of outside of the lock.
        let listener = state.withLock { $0.listeners.removeValue(forKey: number) }
        withExtendedLifetime(listener) {}
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
