import TrawlPlatform

/// What bodies that were handed over have given back, on its way from whatever thread lets them go to the supervisor.
final class MemoryLedger: Sendable {
    private struct State {
        /// Bytes let go that the supervisor has not heard of.
        var letGo = 0
        var isAwaited = false
    }

    private let state = Guarded(State())
    private let mailbox: Mailbox

    init(_ mailbox: Mailbox) { self.mailbox = mailbox }

    /// The bytes let go since the last call.
    func take() -> Int {
        state.withLock { state in
            defer { state = State() }
            return state.letGo
        }
    }

    /// The supervisor waits for bytes: it is woken for the next ones, and now if there are some.
    func wakeOnNext() {
        let hasSome = state.withLock { state in
            state.isAwaited = true
            return state.letGo > 0
        }
        if hasSome { mailbox.wakeUp.signal() }
    }

    fileprivate func letGo(_ bytes: Int) {
        let wakes = state.withLock { state in
            state.letGo += bytes
            defer { state.isAwaited = false }
            return state.isAwaited
        }
        if wakes { mailbox.wakeUp.signal() }
    }
}

/// The memory of a body that was handed over: given back, once, with the last copy of the response.
final class HeldMemory: Sendable {
    private let bytes: Int
    private let ledger: MemoryLedger

    init(_ bytes: Int, of ledger: MemoryLedger) {
        self.bytes = bytes
        self.ledger = ledger
    }

    deinit { ledger.letGo(bytes) }
}
