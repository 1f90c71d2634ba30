import Glibc
import Trawl
import TrawlPlatform

/// Reads a list line by line, no further than it is asked, in bounded memory. Lists packed by gzip are unpacked.
///
/// Bound to one thread. Lines are lent, not copied.
final class ListReader {
    /// How much is read, and when reading is given up.
    struct Limits {
        /// Longer lines are bad, and skipped without being kept.
        var line = 1 << 20
        /// A line that has not ended after so many bytes is no line. Nil: it is skipped for ever.
        var endless: Int? = 64 << 20
    }

    enum Next {
        /// A line of UTF-8 without its end. The bytes are valid until the next call.
        case line(number: Int, UnsafeRawBufferPointer)
        /// A line that cannot be read, how it starts, and whether a NUL is what is wrong with it. The bytes are valid
        /// until the next call.
        case bad(number: Int, reason: String, start: UnsafeRawBufferPointer, hasNUL: Bool)
        case end
        /// The other descriptor is readable; or there was none, and the next line has not come yet.
        case interrupted
    }

    /// How the list is called in messages.
    let name: String
    /// Reads without a line after which a caller that does not wait is asked to come again: tens of megabytes.
    private static let readsInACall = 256
    private let limits: Limits
    private let input: ListInput
    private let lines: LineBuffer
    private var number = 0
    /// Bytes of the line that is being skipped.
    private var skipped: Int?
    /// What comes after the lines that are still to be handed out.
    private var ending: CommandError?
    private var isAtEnd = false

    /// Opens a list; `-` is standard input.
    ///
    /// - Parameter unpacks: Whether it may be packed. Where a program writes lines one by one it is not.
    init(_ path: String, limits: Limits = Limits(), unpacks: Bool = true) throws(CommandError) {
        name = path == "-" ? "standard input" : FailureText.path(path)
        self.limits = limits
        lines = LineBuffer(longest: limits.line)
        if path == "-", !StandardStreams.takeInput() {
            throw CommandError("standard input cannot be the list: an option was read from it")
        }
        if path == "-", let problem = StandardStreams.inputProblem { throw CommandError(problem) }
        if path == "-" { StandardStreams.readsList() }
        do throws(SystemError) {
            input = try ListInput(path, unpacks: unpacks)
        } catch {
            throw Self.unreadable(name, error.errno)
        }
    }

    /// Throws when there is no such list, and opens nothing; `-` is standard input.
    static func check(_ path: String) throws(CommandError) {
        guard path != "-", access(path, F_OK) != 0 else { return }
        throw unreadable(FailureText.path(path), errno)
    }

    private static func unreadable(_ name: String, _ errno: Int32) -> CommandError {
        CommandError("\(name): \(SystemError.reason(errno))")
    }

    /// To be polled by who does not want to wait in `next`; the list's alone to read.
    var descriptor: Int32 { input.descriptor }

    /// Bytes of lines that were read so far, those that were skipped and ends of lines included.
    var bytesRead: Int { lines.handedOut }

    /// Memory that lines take up, in bytes.
    var bufferSize: Int { lines.capacity }

    /// How much of the list has been handed out, from 0 to 1; nil where nobody knows how long it is.
    var share: Double? {
        guard let size = input.size, size > 0 else { return nil }
        // Of a packed list what waits here is more than it takes in the file: then the share comes out too low at
        // first.
        return min(1, max(0, Double(input.position - Int64(lines.count)) / Double(size)))
    }

    /// How a line is called in messages, a space at the end: `urls.txt:12: `.
    func place(_ number: Int) -> String { "\(name):\(number): " }

    /// The next line.
    ///
    /// - Parameter interrupt: Waiting for input ends when this is readable; -1 never waits.
    /// - Throws: When the list cannot be read on, or a line does not end. Whole lines before that place have come.
    func next(interrupt: Int32) throws(CommandError) -> Next {
        var reads = 0
        while true {
            if let line = lines.takeLine() {
                if skipped != nil {
                    skipped = nil
                    continue
                }
                return checked(line)
            }
            if let ending { throw ending }
            if isAtEnd {
                guard skipped == nil, let line = lines.takeRest() else { return .end }
                return checked(line)
            }
            if lines.isFull, let start = try skip() { return start }
            do throws(ListInput.Failure) {
                switch try input.read(into: lines, interrupt: interrupt) {
                case .some:
                    // Input that never ends a line must not keep everything else waiting.
                    reads += 1
                    if reads > Self.readsInACall, limits.endless == nil, interrupt < 0 { return .interrupted }
                case .end: isAtEnd = true
                case .interrupted: return .interrupted
                }
            } catch {
                // What has come of the last line may be a part of it: it is not handed out.
                switch error {
                case .system(let error): ending = CommandError("\(name): \(SystemError.reason(error.errno))")
                case .damaged(let reason):
                    ending = CommandError("\(name): the compressed list is damaged: \(reason)")
                }
            }
        }
    }

    /// The buffer is full and holds no end of line: drops it.
    /// - Returns: The complaint, for the first time in a line.
    private func skip() throws(CommandError) -> Next? {
        let isFirst = skipped == nil
        let total = (skipped ?? 0) + lines.count
        skipped = total
        let start = lines.takeAll()
        if let endless = limits.endless, total > endless {
            throw CommandError("\(name): not a list of URLs: line \(number + (isFirst ? 1 : 0)) does not end")
        }
        guard isFirst else { return nil }
        number += 1
        return .bad(number: number, reason: tooLong, start: start, hasNUL: false)
    }

    private var tooLong: String { "the line is longer than \(limits.line) bytes" }

    private func checked(_ line: UnsafeRawBufferPointer) -> Next {
        number += 1
        guard line.count <= limits.line else {
            return .bad(number: number, reason: tooLong, start: line, hasNUL: false)
        }
        switch LineBytes.check(line) {
        case .text: return .line(number: number, line)
        case .zero: return .bad(number: number, reason: "the line holds a NUL", start: line, hasNUL: true)
        case .notUTF8: return .bad(number: number, reason: "the line is not UTF-8", start: line, hasNUL: false)
        }
    }
}
