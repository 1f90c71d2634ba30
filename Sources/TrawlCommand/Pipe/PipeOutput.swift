import Glibc
import Trawl
import TrawlJSON
import TrawlPlatform

/// Standard output of a pipe: answers become lines there, on a thread of their own.
///
/// A reader that does not read holds up that thread alone, in its write, so that the one that drives everything still
/// sees signals, answers and the end of the input. Asking with `poll` before each write would not do: it promises room
/// for a page, not for a line, and nothing when others write to the same pipe; and the descriptor cannot be made
/// non-blocking, as that would hold for everybody who shares it.
final class PipeOutput: Sendable {
    /// Answers that wait take up so much memory at most, beside those of the fetches in flight.
    private static let mostLoad = 64 << 20
    /// So much is gathered before it is written.
    private static let groupSize = 128 << 10
    /// Larger bodies are written in pieces. Whole groups of three bytes, so that the pieces' Base64 can be joined.
    private static let pieceSize = 96 << 10

    private struct State {
        var waiting: [PipeResponse?] = []
        /// Of all answers that are not written yet.
        var load = 0
        /// The driver stopped reading for want of room.
        var wantsRoom = false
        /// Nothing will be added.
        var isEnded = false
        /// The thread has ended.
        var isOver = false
        var failure: SystemError?
    }

    private let state = Guarded(State())
    private let wakeUp: WakeUp
    private let answers: AnswerQueue

    /// Starts the thread.
    ///
    /// - Parameter answers: What its owner waits on; it is woken when there is room again, and at the end.
    init(_ answers: AnswerQueue) throws(SystemError) {
        self.answers = answers
        wakeUp = try WakeUp()
        // It holds this object, and frees itself when it ends.
        _ = try NamedThread.start(name: "trawl-output") { [self] in run() }
    }

    /// Whether more requests may be read; when not, the owner is woken once they may.
    func hasRoom() -> Bool {
        state.withLock { state in
            state.wantsRoom = state.load >= Self.mostLoad
            return !state.wantsRoom
        }
    }

    /// Hands over answers, in the order they are to be written, and forgets them here.
    func add(_ responses: inout [PipeResponse?]) {
        guard !responses.isEmpty else { return }
        let load = responses.reduce(0) { $0 + ($1?.load ?? 0) }
        let wasEmpty = state.withLock { state in
            guard !state.isOver else { return false }
            state.load += load
            defer { state.waiting.append(contentsOf: responses) }
            return state.waiting.isEmpty
        }
        responses.removeAll(keepingCapacity: true)
        if wasEmpty { wakeUp.signal() }
    }

    /// Nothing more comes: the thread ends when all is written.
    func end() {
        state.withLock { $0.isEnded = true }
        wakeUp.signal()
    }

    /// Whether all that was ever going to be written is.
    var isOver: Bool { state.withLock { $0.isOver } }

    /// Why writing ended early.
    var failure: SystemError? { state.withLock { $0.failure } }

    // MARK: The thread

    private func run() {
        var lines = JSONWriter()
        var group: [PipeResponse?] = []
        var failure: SystemError?
        do throws(SystemError) {
            while takeNext(&group) { try write(&group, &lines) }
        } catch {
            failure = error
        }
        state.withLock { state in
            state.failure = failure
            state.isOver = true
            state.waiting.removeAll()
        }
        answers.wake()
    }

    /// Waits for answers.
    /// - Returns: False when none will come.
    private func takeNext(_ group: inout [PipeResponse?]) -> Bool {
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

    private func write(_ group: inout [PipeResponse?], _ lines: inout JSONWriter) throws(SystemError) {
        // Of those whose lines are gathered.
        var load = 0
        for index in group.indices {
            // What is written is let go at once.
            guard let response = group[index].take() else { continue }
            load += response.load
            response.writeStart(to: &lines)
            if case .success(let answer) = response.result {
                if answer.body.count > Self.pieceSize {
                    try flush(&lines, 0)
                    try writeBody(answer.body, &lines)
                } else {
                    answer.body.withUnsafeBytes { lines.base64($0) }
                }
            } else {
                lines.string("")
            }
            lines.endObject()
            lines.endLine()
            if lines.count >= Self.groupSize {
                try flush(&lines, load)
                load = 0
            }
        }
        try flush(&lines, load)
    }

    /// A body as a string, straight from where it is.
    private func writeBody(_ body: ResponseBody, _ lines: inout JSONWriter) throws(SystemError) {
        var piece = JSONWriter()
        try body.withUnsafeBytes { (bytes) throws(SystemError) in
            var start = 0
            while start < bytes.count {
                let end = min(start + Self.pieceSize, bytes.count)
                piece.removeAll()
                piece.base64(UnsafeRawBufferPointer(rebasing: bytes[start..<end]))
                // Its quotation marks stay at the two ends alone.
                let first = start == 0 ? 0 : 1
                let last = piece.count - (end == bytes.count ? 0 : 1)
                try piece.withUnsafeBytes { (text) throws(SystemError) in
                    try StandardStreams.write(UnsafeRawBufferPointer(rebasing: text[first..<last]), to: STDOUT_FILENO)
                }
                start = end
            }
        }
    }

    private func flush(_ lines: inout JSONWriter, _ load: Int) throws(SystemError) {
        try lines.withUnsafeBytes { (text) throws(SystemError) in
            try StandardStreams.write(text, to: STDOUT_FILENO)
        }
        lines.removeAll()
        let wakes = state.withLock { state in
            state.load -= load
            guard state.wantsRoom, state.load < Self.mostLoad / 2 else { return false }
            state.wantsRoom = false
            return true
        }
        if wakes { answers.wake() }
    }
}
