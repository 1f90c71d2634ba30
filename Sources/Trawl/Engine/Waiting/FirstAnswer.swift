import TrawlPlatform

/// The answer to a question that may take too long, or never come: whoever is asked is a program's code.
final class FirstAnswer<Value: Sendable>: Sendable {
    private struct State: Sendable {
        var isSettled = false
        var value: Value?
        var waiter: CheckedContinuation<Value?, Never>?
    }

    private let state = Guarded(State())

    private init() {}

    /// What `question` returns, or nil when that takes longer than `limit` or the asking task is cancelled.
    ///
    /// The question's task is cancelled then, and nobody waits for it. That is done in the asking task: of the
    /// program's code nothing runs on the thread of whoever cancels that, which may be the supervisor's. When it is
    /// cancelled before the question was put, nobody is asked.
    ///
    /// - Parameter limit: nil waits for as long as it takes. Time in which this process or the machine was stopped does
    ///   not count.
    static func within(_ limit: Duration?, _ question: @escaping @Sendable () async -> Value) async -> Value? {
        if Task.isCancelled { return nil }
        let answer = FirstAnswer()
        let asking = Task { answer.settle(await question()) }
        let timer = limit.map { limit in
            Task {
                // Cancelled as soon as there is an answer.
                if (try? await Task.sleep(forOwnTime: limit)) != nil { answer.settle(nil) }
            }
        }
        defer {
            asking.cancel()
            timer?.cancel()
        }
        return await answer.orNil()
    }

    /// The value that `begin` has somebody settle, from whatever thread, or nil when the asking task is cancelled before.
    static func settled(by begin: (FirstAnswer) -> Void) async -> Value? {
        let answer = FirstAnswer()
        begin(answer)
        return await answer.orNil()
    }

    private func orNil() async -> Value? {
        await withTaskCancellationHandler {
            await wait()
        } onCancel: {
            settle(nil)
        }
    }

    /// The first value counts.
    func settle(_ value: Value?) {
        let waiter: CheckedContinuation<Value?, Never>? = state.withLock { state in
            guard !state.isSettled else { return nil }
            state.isSettled = true
            state.value = value
            defer { state.waiter = nil }
            return state.waiter
        }
        waiter?.resume(returning: value)
    }

    private func wait() async -> Value? {
        await withCheckedContinuation { continuation in
            let isSettled = state.withLock { state in
                if !state.isSettled { state.waiter = continuation }
                return state.isSettled
            }
            if isSettled { continuation.resume(returning: state.withLock { $0.value }) }
        }
    }
}
