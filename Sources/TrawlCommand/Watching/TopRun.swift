import Glibc
import TrawlHTTP
import TrawlPlatform

/// `trawl top` from its start to its end.
final class TopRun: Sendable {
    /// How long a run may take to answer: keys wait for it.
    private static let patience = Duration.milliseconds(500)
    /// How often the size of the window is looked at.
    private static let sizeInterval = Duration.milliseconds(200)

    private let watched: WatchedArgument
    private let interval: Duration
    private let frames: Int?
    private let wakeUp: WakeUp
    /// The signal that ends it.
    private let signal = Guarded<Int32?>(nil)
    /// Whether the screen has to be drawn although nothing is new.
    private let isSpoiled = Guarded(false)

    /// - Parameter frames: Pictures after which it ends; nil is never.
    init(_ watched: WatchedArgument, interval: Duration, frames: Int?) throws(SystemError) {
        self.watched = watched
        self.interval = interval
        self.frames = frames
        wakeUp = try WakeUp()
    }

    // MARK: On a terminal

    /// Draws until somebody ends it.
    ///
    /// - Returns: The exit status.
    func draw() throws(SystemError) -> Int32 {
        let screen = TerminalScreen(input: STDIN_FILENO, output: STDOUT_FILENO)
        try watch()
        _ = TerminalHold.begin(screen)
        let end = loop(on: screen)
        TerminalHold.end(screen)
        if case .signal(let number) = end, number != SIGINT { Signals.die(of: number) }
        if case .over(let runs, let wasSeen) = end { return tell(runs, wasSeen) }
        return ExitStatus.success
    }

    private enum End {
        case byKey
        case signal(Int32)
        /// The run that was asked for is over, or was none.
        case over(WatchedRuns, wasSeen: Bool)
    }

    private func loop(on screen: TerminalScreen) -> End {
        var hasKeys = isatty(STDIN_FILENO) == 1
        var wasSeen = false
        var count = 0
        while true {
            let runs = WatchedRuns.asking(watched, patience: Self.patience)
            if isOver(runs, &wasSeen) { return .over(runs, wasSeen: wasSeen) }
            count += 1
            var size = screen.size
            guard paint(runs, size, screen, hasKeys: hasKeys) else { return .byKey }
            if count == frames { return .byKey }
            let next = MonotonicClock.now().advanced(by: interval)
            while MonotonicClock.now() < next {
                if let number = signal.withLock({ $0 }) { return .signal(number) }
                let left = min(MonotonicClock.now().duration(to: next), Self.sizeInterval)
                switch key(within: left, &hasKeys) {
                case UInt8(ascii: "q"), UInt8(ascii: "Q"): return .byKey
                default: break
                }
                let present = screen.size
                let wasSpoiled = isSpoiled.withLock { isSpoiled in
                    defer { isSpoiled = false }
                    return isSpoiled
                }
                if wasSpoiled || present != size {
                    size = present
                    guard paint(runs, size, screen, hasKeys: hasKeys) else { return .byKey }
                }
            }
            if let number = signal.withLock({ $0 }) { return .signal(number) }
        }
    }

    /// The last column stays free: a terminal would go on to the next line.
    private func paint(
        _ runs: WatchedRuns, _ size: (width: Int, height: Int), _ screen: TerminalScreen, hasKeys: Bool
    ) -> Bool {
        screen.draw(TopFrame.lines(runs, width: size.width - 1, height: size.height, hasKeys: hasKeys))
    }

    /// A key, when one comes in time.
    ///
    /// - Parameter hasKeys: Whether there may be any; becomes false at the end of the input.
    private func key(within duration: Duration, _ hasKeys: inout Bool) -> UInt8? {
        var pollers = [pollfd(fd: wakeUp.rawValue, events: Int16(POLLIN), revents: 0)]
        if hasKeys { pollers.append(pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)) }
        guard poll(&pollers, nfds_t(pollers.count), Int32(clamping: duration.clampedMilliseconds)) > 0 else {
            return nil
        }
        wakeUp.drain()
        guard pollers.count > 1, pollers[1].revents != 0 else { return nil }
        var byte: UInt8 = 0
        if read(STDIN_FILENO, &byte, 1) == 1 { return byte }
        hasKeys = false
        return nil
    }

    private func watch() throws(SystemError) {
        try Signals.block().watch { [self] number, count in
            signal.withLock { $0 = $0 ?? number }
            wakeUp.signal()
            // Who does not come to an end may be stuck where it writes.
            if count > 2 { Signals.die(of: number) }
        } suspend: { [self] stopping in
            if stopping { return }
            isSpoiled.withLock { $0 = true }
            wakeUp.signal()
        } status: {
        }
    }

    // MARK: Elsewhere

    /// Writes pictures as lines.
    ///
    /// - Returns: The exit status.
    func print() throws(SystemError) -> Int32 {
        var wasSeen = false
        var count = 0
        while true {
            let runs = WatchedRuns.asking(watched, patience: Self.patience)
            if isOver(runs, &wasSeen) { return tell(runs, wasSeen) }
            let lines = TopFrame.lines(runs, width: 200, height: 1000, hasKeys: false)
            do throws(SystemError) {
                try StandardStreams.write(Array((lines.joined(separator: "\n") + "\n\n").utf8), to: STDOUT_FILENO)
            } catch {
                if error.errno == EPIPE { return ExitStatus.success }
                throw error
            }
            count += 1
            if count == frames { return ExitStatus.success }
            MonotonicClock.sleep(for: interval)
        }
    }

    // MARK: The end

    /// Whether the run that was asked for is over, or was none.
    private func isOver(_ runs: WatchedRuns, _ wasSeen: inout Bool) -> Bool {
        guard watched.run != nil else { return false }
        if !runs.reports.isEmpty { wasSeen = true }
        guard runs.reports.isEmpty else { return false }
        // One that is only slow may come back.
        return !wasSeen || runs.failures.allSatisfy { $0.status != ExitStatus.engineDown }
    }

    private func tell(_ runs: WatchedRuns, _ wasSeen: Bool) -> Int32 {
        if wasSeen { return ExitStatus.success }
        for failure in runs.failures { StandardStreams.writeText("trawl: \(failure.message)\n", to: STDERR_FILENO) }
        return runs.status
    }
}
