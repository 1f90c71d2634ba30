import Glibc
import Trawl
import TrawlHTTP
import TrawlPlatform

/// Shows progress until it is finished, on a thread of its own.
final class ProgressDisplay: Sendable {
    enum State: Sendable {
        case nothing
        case single(ProgressLine.Single)
        case many(ProgressLine.Many)
    }

    /// What is shown; written by the run.
    let state = Guarded(State.nothing)
    private let kind: ProgressKind
    private let bytesInFlight: @Sendable () -> UInt64
    private let stop: WakeUp?
    private let thread = Guarded<NamedThread?>(nil)

    /// - Parameter bytesInFlight: Bytes of a list's bodies that are not over; asked on the thread of this display.
    init(_ kind: ProgressKind, bytesInFlight: @escaping @Sendable () -> UInt64 = { 0 }) {
        self.bytesInFlight = bytesInFlight
        self.kind = kind
        stop = kind == .hidden ? nil : try? WakeUp()
        guard let stop else { return }
        let started = try? NamedThread.start(name: "trawl-progress", stackSize: 1 << 18) { [self] in run(stop) }
        thread.withLock { $0 = started }
    }

    /// Whether anybody sees it.
    var isShown: Bool { stop != nil }

    /// Ends the thread and takes the line away.
    func finish() {
        stop?.signal()
        thread.withLock { $0.take() }?.join()
        StandardError.erase()
    }

    /// What is over in a moment needs no line; then ten a second at most, as plain lines one a second.
    private func run(_ stop: WakeUp) {
        var pace = ProgressPace(at: MonotonicClock.now())
        var pause: Int32 = kind.isDrawn ? 500 : 1000
        while true {
            var poller = pollfd(fd: stop.rawValue, events: Int16(POLLIN), revents: 0)
            if poll(&poller, 1, pause) > 0 { return }
            pause = kind.isDrawn ? 100 : 1000
            if StandardError.isAsking { continue }
            let width = kind.isDrawn ? Terminal.columns(STDERR_FILENO) : 200
            let line = line(&pace, width)
            if line.isEmpty { continue }
            if kind.isDrawn { StandardError.draw(line, width: width) } else { StandardError.write(line + "\n") }
        }
    }

    private func line(_ pace: inout ProgressPace, _ width: Int) -> String {
        let now = MonotonicClock.now()
        return switch state.withLock({ $0 }) {
        case .nothing: ""
        case .single(let single): pace.text(single, width: width, hasBar: kind == .bar, at: now)
        case .many(let many):
            pace.text(many, inFlight: bytesInFlight(), width: width, hasBar: kind == .bar, at: now)
        }
    }
}
