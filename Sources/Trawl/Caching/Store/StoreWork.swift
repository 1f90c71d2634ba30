import TrawlPlatform

/// What programs have done in stores by hand, each on a thread of its own: it waits for disks and for other processes,
/// and callers may be on the main actor, or in a pool whose threads must not wait.
final class StoreWork: Sendable {
    private struct State {
        /// How many are under way.
        var count = 0
        var isClosed = false
        /// Who waits for the last to end.
        var waiting: [WakeUpGate] = []
    }

    private let state = Guarded(State())

    /// What `body` returns, run on a thread of its own.
    ///
    /// - Throws: What `body` does; `cancelled` when the calling task is, also before: `body` then goes on to its end
    ///   with nobody waiting for it; `shutDown` once this is closed.
    func run<Value: Sendable>(
        _ body: @escaping @Sendable () throws(FetchError) -> Value
    ) async throws(FetchError) -> Value {
        let result = await FirstAnswer<Result<Value, FetchError>>.settled { answer in
            do throws(FetchError) {
                try begin { answer.settle(Result<Value, FetchError>(catching: body)) }
            } catch {
                answer.settle(.failure(error))
            }
        }
        guard let result else { throw FetchError(.cancelled, "a change of the store is not waited for") }
        return try result.get()
    }

    private func begin(_ body: @escaping @Sendable () -> Void) throws(FetchError) {
        let isClosed = state.withLock { state in
            if !state.isClosed { state.count += 1 }
            return state.isClosed
        }
        if isClosed { throw .shutDown() }
        do throws(SystemError) {
            // It ends by itself, and `close` waits for that.
            _ = try NamedThread.start(name: "trawl-change") { [self] in
                body()
                end()
            }
        } catch {
            end()
            throw FetchError(.storeUnusable, "\(error)")
        }
    }

    private func end() {
        let waiting = state.withLock { state -> [WakeUpGate] in
            state.count -= 1
            guard state.count == 0 else { return [] }
            defer { state.waiting = [] }
            return state.waiting
        }
        for gate in waiting { gate.open() }
    }

    /// Waits until all of it is over; nothing begins any more.
    func close() {
        let gate = WakeUpGate()
        let isOver = state.withLock { state in
            state.isClosed = true
            if state.count > 0 { state.waiting.append(gate) }
            return state.count == 0
        }
        if !isOver { gate.wait() }
    }
}
