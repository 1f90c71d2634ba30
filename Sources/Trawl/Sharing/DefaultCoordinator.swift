import Glibc
import TrawlPlatform

/// The coordinator of a program that several of its parts share: started by the first who asks, ended with the program.
///
/// It belongs to the process that started it. A fork takes along none of its threads, so a child that was forked
/// without an exec has none, and gets an error.
final class DefaultCoordinator: Sendable {
    private enum State {
        /// Nobody has asked yet, or it could not be started.
        case absent
        /// One caller starts it; these wait.
        case starting([WakeUpGate])
        case present(Coordinator)
    }

    private struct Values {
        var configuration = Configuration()
        var state = State.absent
        /// That which starts it or started it; 0 while there is none.
        var process: pid_t = 0
        /// The queue all share, once somebody wanted it.
        var queue: FetchQueue?
    }

    /// What a caller does next.
    private enum Step {
        case take(Coordinator)
        case wait(WakeUpGate)
        case start(Configuration)
        case fail
    }

    static let shared = DefaultCoordinator()

    private let values = Guarded(Values())

    /// - Throws: ``FetchError/Code/badRequest`` when it was started, or is being started.
    func configure(_ configuration: Configuration) throws(FetchError) {
        if let problem = configuration.problem() { throw FetchError(.badRequest, problem) }
        let isEarly = values.withLock { values in
            guard case .absent = values.state else { return false }
            values.configuration = configuration
            return true
        }
        guard isEarly else {
            throw FetchError(
                .badRequest, "the default coordinator runs already: it is configured before it is first used")
        }
    }

    func coordinator() throws(FetchError) -> Coordinator {
        while true {
            switch nextStep() {
            case .take(let coordinator): return coordinator
            case .wait(let gate): gate.wait()
            case .fail:
                throw FetchError(
                    .engineDown, "the default coordinator belongs to the process that this one was forked from")
            case .start(let configuration): return try start(configuration)
            }
        }
    }

    func queue() throws(FetchError) -> FetchQueue {
        let coordinator = try coordinator()
        return values.withLock { values in
            if let queue = values.queue { return queue }
            var settings = FetchQueue.Settings()
            settings.cancelsOthersOnFailure = false
            let queue = FetchQueue(on: coordinator, settings)
            queue.start()
            values.queue = queue
            return queue
        }
    }

    private func nextStep() -> Step {
        let process = getpid()
        return values.withLock { values in
            switch values.state {
            case .absent:
                values.state = .starting([])
                values.process = process
                return .start(values.configuration)
            case _ where values.process != process: return .fail
            case .present(let coordinator): return .take(coordinator)
            case .starting(let gates):
                let gate = WakeUpGate()
                values.state = .starting(gates + [gate])
                return .wait(gate)
            }
        }
    }

    private func start(_ configuration: Configuration) throws(FetchError) -> Coordinator {
        do throws(FetchError) {
            let coordinator = try Coordinator(configuration)
            settle(.present(coordinator))
            // A program that returns or calls exit ends it as one that shuts it down; one that is killed, as any other.
            atexit { DefaultCoordinator.shared.endWithProgram() }
            return coordinator
        } catch {
            // The next one tries anew.
            settle(.absent)
            throw error
        }
    }

    private func settle(_ state: State) {
        let gates: [WakeUpGate] = values.withLock { values in
            defer { values.state = state }
            return if case .starting(let gates) = values.state { gates } else { [] }
        }
        for gate in gates { gate.open() }
    }

    private func endWithProgram() {
        let process = getpid()
        let coordinator: Coordinator? = values.withLock { values in
            guard values.process == process, case .present(let coordinator) = values.state else { return nil }
            return coordinator
        }
        coordinator?.endWithProgram()
    }
}

extension Coordinator {
    /// The coordinator that all parts of a program may share, for those that are handed none.
    ///
    /// Who asks first starts it, with ``Configuration/default`` or what ``configureDefault(_:)`` said, and blocks the
    /// calling thread for as long as that takes; from then on it is always the same one. When the program returns from
    /// `main` or calls `exit`, fetches that are in flight are cancelled and its workers ended; a program that is killed
    /// takes them along. Who shuts it down ends it for all: its fetches fail with ``FetchError/Code/shutDown`` from
    /// then on.
    ///
    /// ```swift
    /// let response = try await Coordinator.default.send(Request("https://example.org/"))
    /// let queue = try FetchQueue(on: .default)
    /// ```
    ///
    /// - Throws: What ``init(_:)`` throws; the next one who asks tries again. ``FetchError/Code/engineDown`` in a
    ///   process that was forked from the one it belongs to: no coordinator goes across a fork.
    /// - Source: `+[ASIHTTPRequest sharedQueue]` (ASI-MISC-05), `NSURLSession.sharedSession`.
    public static var `default`: Coordinator {
        get throws(FetchError) { try DefaultCoordinator.shared.coordinator() }
    }

    /// Says how ``default`` works, before it is first used. The last one who says it counts.
    ///
    /// - Throws: ``FetchError/Code/badRequest`` when it runs already, or the configuration makes no sense; nothing
    ///   changes then.
    public static func configureDefault(_ configuration: Configuration) throws(FetchError) {
        try DefaultCoordinator.shared.configure(configuration)
    }
}
