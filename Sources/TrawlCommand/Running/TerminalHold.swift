import Glibc
import TrawlPlatform

/// What changes how this process's terminal behaves, and can change that back.
protocol TerminalHolder: AnyObject, Sendable {
    /// Takes the terminal, unless it is taken.
    func enter()
    /// Gives it back as it was, unless that is done.
    ///
    /// - Parameter isForGood: Whether the process ends, so that nobody is read from or drawn for any more.
    func leave(isForGood: Bool)
}

/// The terminal while it is not as the shell left it, for those who end or stop the process: they give it back first.
enum TerminalHold {
    private struct State {
        var holder: (any TerminalHolder)?
        var isOver = false
        /// Whether a signal is about to end the process.
        var isDying = false
    }

    private static let state = Guarded(State())

    /// Takes the terminal; one at a time does.
    ///
    /// - Returns: Whether it was taken: not when the process is ending.
    static func begin(_ holder: any TerminalHolder) -> Bool {
        let (isTaken, isDying) = state.withLock { state in
            if state.isOver { return (false, state.isDying) }
            state.holder = holder
            holder.enter()
            return (true, false)
        }
        if isDying { awaitDeath() }
        return isTaken
    }

    /// Gives it back. Does not return when a signal is ending the process: who was asking would go on without an answer,
    /// and end it by another status.
    static func end(_ holder: any TerminalHolder) {
        let isDying = state.withLock { state in
            holder.leave(isForGood: false)
            if state.holder === holder { state.holder = nil }
            return state.isDying
        }
        if isDying { awaitDeath() }
    }

    private static func awaitDeath() -> Never {
        while true { Glibc.pause() }
    }

    /// The process is about to stop.
    static func pause() {
        state.withLock { state in
            if let holder = state.holder { holder.leave(isForGood: false) }
        }
    }

    /// The process goes on.
    static func resume() {
        state.withLock { state in
            if let holder = state.holder { holder.enter() }
        }
    }

    /// The process ends: the terminal is given back and not taken again.
    ///
    /// - Parameter isDying: Whether a signal ends it now, whatever else goes on.
    static func endForGood(isDying: Bool = false) {
        state.withLock { state in
            state.isOver = true
            if isDying { state.isDying = true }
            if let holder = state.holder { holder.leave(isForGood: true) }
            state.holder = nil
        }
    }
}
