import Glibc
import Synchronization
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
    let state = Mutex(State.nothing)
    private let console: Console
    private let kind: ProgressKind
    private let stop: WakeUp?
    private let thread = Mutex<NamedThread?>(nil)

    init(_ kind: ProgressKind, on console: Console) {
        self.console = console
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
        console.erase()
    }

    /// What is over in a moment needs no line; then ten a second at most, as plain lines one a second.
    private func run(_ stop: WakeUp) {
        var speed = Speed(at: MonotonicClock.now())
        var pause: Int32 = kind == .bar ? 500 : 1000
        while true {
            var poller = pollfd(fd: stop.rawValue, events: Int16(POLLIN), revents: 0)
            if poll(&poller, 1, pause) > 0 { return }
            pause = kind == .bar ? 100 : 1000
            let width = kind == .bar ? Terminal.columns(STDERR_FILENO) : 200
            let line = line(&speed, width)
            if line.isEmpty { continue }
            if kind == .bar { console.draw(line, width: width) } else { console.write(line + "\n") }
        }
    }

    private func line(_ speed: inout Speed, _ width: Int) -> String {
        let now = MonotonicClock.now()
        switch state.withLock({ $0 }) {
        case .nothing:
            return ""
        case .single(let single):
            speed.update(bytes: single.received, fetches: 0, at: now)
            return ProgressLine.text(single, rate: speed.bytes, width: width)
        case .many(let many):
            speed.update(bytes: many.bytes, fetches: many.done, at: now)
            return ProgressLine.text(many, rate: speed.bytes, fetchRate: speed.fetches, width: width)
        }
    }
}

/// Rates over about the last five seconds.
struct Speed: Sendable {
    private(set) var bytes = 0.0
    private(set) var fetches = 0.0
    private var last: (bytes: UInt64, fetches: Int, at: MonotonicInstant)

    init(at now: MonotonicInstant) {
        last = (0, 0, now)
    }

    /// Takes in the totals of now. Totals that went back start anew.
    mutating func update(bytes total: UInt64, fetches done: Int, at now: MonotonicInstant) {
        let seconds = last.at.duration(to: now) / .seconds(1)
        guard seconds > 0.05 else { return }
        let isFirst = last.bytes == 0 && last.fetches == 0
        let weight = isFirst ? 1 : min(1, seconds / 5)
        let newBytes = total >= last.bytes ? Double(total - last.bytes) : Double(total)
        let newFetches = done >= last.fetches ? Double(done - last.fetches) : Double(done)
        bytes += weight * (newBytes / seconds - bytes)
        fetches += weight * (newFetches / seconds - fetches)
        last = (total, done, now)
    }
}
