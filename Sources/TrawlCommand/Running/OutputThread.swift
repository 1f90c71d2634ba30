import Glibc
import Trawl
import TrawlHTTP
import TrawlPlatform

/// Writes what an ``OutputThread`` is given.
protocol OutputWriter<Item>: SendableMetatype {
    associatedtype Item: Sendable

    /// Writes a group of items.
    ///
    /// - Parameters:
    ///   - group: Forgotten by the caller afterwards; what is written may be let go before.
    ///   - written: To be told the load of items that are written.
    mutating func write(_ group: inout [Item], written: (Int) -> Void) throws(SystemError)
}

/// A thread that writes to a descriptor whose reader may not read.
///
/// It alone is held up then, in its write, so that whoever hands things over still sees signals, answers and the end of
/// the input. Asking with `poll` before each write would not do: it promises room for a page, not for a line, and
/// nothing when others write to the same pipe; and the descriptor cannot be made non-blocking, as that would hold for
/// everybody who shares it.
final class OutputThread<Item: Sendable>: Sendable {
    private struct State {
        var waiting: [Item] = []
        /// Of all items that are not written yet, in bytes.
        var load = 0
        /// Somebody stopped for want of room.
        var wantsRoom = false
        /// Nothing will be added.
        var isEnded = false
        /// The thread has ended.
        var isOver = false
        var failure: SystemError?
    }

    private let mostLoad: Int
    private let changed: @Sendable () -> Void
    private let state = Guarded(State())
    private let wakeUp: WakeUp

    /// Starts the thread.
    ///
    /// - Parameters:
    ///   - mostLoad: What may wait, in bytes, before there is no room.
    ///   - writer: Makes the writer, on the thread.
    ///   - changed: Called on the thread when there is room again, and at the end.
    init<Writer: OutputWriter>(
        mostLoad: Int, _ writer: @escaping @Sendable () -> Writer, changed: @escaping @Sendable () -> Void
    ) throws(SystemError) where Writer.Item == Item {
        self.mostLoad = mostLoad
        self.changed = changed
        wakeUp = try WakeUp()
        // It holds this object, and frees itself when it ends.
        _ = try NamedThread.start(name: "trawl-output") { [self] in run(writer()) }
    }

    /// Whether more may be added; when not, `changed` is called once there is room.
    func hasRoom() -> Bool {
        state.withLock { state in
            state.wantsRoom = state.load >= mostLoad
            return !state.wantsRoom
        }
    }

    /// Hands over items, in the order they are to be written, and forgets them here.
    func add(_ items: inout [Item], load: Int) {
        guard !items.isEmpty else { return }
        let wasEmpty = state.withLock { state in
            guard !state.isOver else { return false }
            state.load += load
            defer { state.waiting.append(contentsOf: items) }
            return state.waiting.isEmpty
        }
        items.removeAll(keepingCapacity: true)
        if wasEmpty { wakeUp.signal() }
    }

    /// Whether all that was ever going to be written is.
    var isOver: Bool { state.withLock { $0.isOver } }

    /// Why writing ended early.
    var failure: SystemError? { state.withLock { $0.failure } }

    /// Nothing more comes; `changed` is called when all is written.
    func end() {
        state.withLock { $0.isEnded = true }
        wakeUp.signal()
    }

    /// Nothing more comes: waits until all is written; after a signal, not for long.
    ///
    /// - Parameters:
    ///   - descriptor: Readable after `changed` was called, and after a signal.
    ///   - drain: Makes it unreadable.
    func finish(_ stopping: StopRequests, wokenBy descriptor: Int32, drain: () -> Void) {
        end()
        var deadline: MonotonicInstant?
        while !isOver {
            var timeout: Int32 = -1
            if stopping.count > 1 { return }
            if stopping.count > 0 {
                let now = MonotonicClock.now()
                let end = deadline ?? now.advanced(by: StopRequests.flushTime)
                deadline = end
                timeout = Int32(max(0, (now.duration(to: end) / .milliseconds(1)).rounded(.up)))
                if timeout == 0 { return }
            }
            var poller = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            _ = poll(&poller, 1, timeout)
            drain()
        }
    }

    // MARK: The thread

    private func run(_ writer: some OutputWriter<Item>) {
        var writer = writer
        var group: [Item] = []
        var failure: SystemError?
        do throws(SystemError) {
            while takeNext(&group) { try writer.write(&group, written: written) }
        } catch {
            failure = error
        }
        state.withLock { state in
            state.failure = failure
            state.isOver = true
            state.waiting.removeAll()
        }
        changed()
    }

    /// Waits for items.
    /// - Returns: False when none will come.
    private func takeNext(_ group: inout [Item]) -> Bool {
        while true {
            group.removeAll(keepingCapacity: true)
            let isEnded = state.withLock { state in
                swap(&state.waiting, &group)
                return state.isEnded
            }
            if !group.isEmpty { return true }
            if isEnded { return false }
            var poller = pollfd(fd: wakeUp.rawValue, events: Int16(POLLIN), revents: 0)
            _ = poll(&poller, 1, -1)
            wakeUp.drain()
        }
    }

    private func written(_ load: Int) {
        let wakes = state.withLock { state in
            state.load -= load
            guard state.wantsRoom, state.load <= mostLoad / 2 else { return false }
            state.wantsRoom = false
            return true
        }
        if wakes { changed() }
    }
}

/// Lines, as they are.
struct LineWriter: OutputWriter {
    /// So much may wait: what a batch still adds when there is no room comes from the fetches in flight.
    static let mostLoad = 1 << 20

    /// Its owner keeps it open.
    let descriptor: Int32

    mutating func write(_ group: inout [[UInt8]], written: (Int) -> Void) throws(SystemError) {
        for lines in group {
            try StandardStreams.write(lines, to: descriptor)
            written(lines.count)
        }
    }
}

extension OutputThread<[UInt8]> {
    /// Hands over lines.
    func add(_ lines: [UInt8]) {
        var items = [lines]
        add(&items, load: lines.count)
    }
}
