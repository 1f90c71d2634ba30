import Foundation
import Glibc
import TrawlPlatform

/// A running `trawl pipe`, seen from the program that uses it: pipes at both ends.
final class PipeProcess: Sendable {
    /// One line of output, taken apart.
    ///
    /// `@unchecked Sendable` holds because its values are those of JSON, which nobody changes.
    struct Answer: @unchecked Sendable {
        let members: [String: Any]
        let text: String

        var status: Int? { members["status"] as? Int }
        var url: String? { members["url"] as? String }
        var code: String? { (members["error"] as? [String: Any])?["code"] as? String }
        var kind: String? { (members["error"] as? [String: Any])?["kind"] as? String }
        var message: String? { (members["error"] as? [String: Any])?["message"] as? String }
        var headers: [[String]] { members["headers"] as? [[String]] ?? [] }
        var body: [UInt8]? { (members["body_base64"] as? String).flatMap { Data(base64Encoded: $0) }.map(Array.init) }
        /// As it stands in the line.
        var id: String {
            String(
                text.dropFirst(#"{"id":"#.count).prefix(upTo: text.range(of: #","url":"#)?.lowerBound ?? text.endIndex))
        }

        init?(_ line: [UInt8]) {
            guard let members = try? JSONSerialization.jsonObject(with: Data(line)) as? [String: Any] else {
                return nil
            }
            self.members = members
            text = String(decoding: line, as: UTF8.self)
        }
    }

    let pid: pid_t
    private let process: ChildProcess
    /// What came and is not taken yet.
    private let rest = Guarded<ArraySlice<UInt8>>([])

    init(_ arguments: [String] = [], errors: String? = nil) throws {
        process = try ChildProcess(
            try BuiltProducts.trawl(), ["pipe", "--workers", "2"] + arguments, errors: errors)
        pid = process.pid
    }

    /// Writes on a thread of its own, as long as it takes: nothing here may hold up other tests.
    /// - Parameter ends: Whether the input ends then.
    func write(_ lines: [String], ends: Bool) async {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                for line in lines { self.write(line) }
                if ends { self.closeInput() }
                continuation.resume()
            }
        }
    }

    /// Writes a few bytes, or waits for room.
    func write(_ bytes: [UInt8]) {
        var bytes = bytes[...]
        while !bytes.isEmpty {
            let count = bytes.withUnsafeBytes { send(process.input, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            if count < 0 { return }
            bytes = bytes.dropFirst(count)
        }
    }

    func write(_ line: String) { write(Array(line.utf8) + [0x0A]) }

    func closeInput() { process.closeInput() }

    /// Stops reading for good.
    func closeOutput() { shutdown(process.output, Int32(SHUT_RDWR)) }

    /// Goes away, whatever is unread.
    func dropOutput() {
        // The number is still the process's, which closes it.
        let nothing = open("/dev/null", O_RDONLY | O_CLOEXEC)
        dup2(nothing, process.output)
        close(nothing)
    }

    func signal(_ number: Int32) { process.signal(number) }

    func signalTwice(_ number: Int32) async { await process.signalTwice(number) }

    /// The next answer; nil at the end, or when none comes in time.
    func next(within limit: Duration = .seconds(60)) async -> Answer? {
        let deadline = ContinuousClock.now + limit
        while ContinuousClock.now < deadline {
            switch take() {
            case .line(let line): return Answer(line)
            case .end: return nil
            case .nothing: try? await Task.sleep(for: .milliseconds(1))
            }
        }
        return nil
    }

    private enum Taken {
        case line([UInt8])
        case nothing
        case end
    }

    /// A line, without waiting for one.
    private func take() -> Taken {
        rest.withLock { rest in
            var searched = 0
            while true {
                if let end = Self.lineEnd(in: rest.dropFirst(searched)) {
                    defer { rest = rest[(end + 1)...] }
                    return .line(Array(rest[..<end]))
                }
                searched = rest.count
                guard let piece = readPiece() else { return .end }
                if piece.isEmpty { return .nothing }
                if searched == 0 { rest = piece[...] } else { rest.append(contentsOf: piece) }
            }
        }
    }

    /// What can be read without waiting; nil at the end.
    private func readPiece() -> [UInt8]? {
        var wait = pollfd(fd: process.output, events: Int16(POLLIN), revents: 0)
        guard poll(&wait, 1, 0) > 0 else { return [] }
        let bytes = [UInt8](unsafeUninitializedCapacity: 1 << 18) { buffer, count in
            count = max(0, read(process.output, buffer.baseAddress, buffer.count))
        }
        return bytes.isEmpty ? nil : bytes
    }

    /// The place of the first line feed. Answers have megabytes, which nothing here may go through byte by byte.
    private static func lineEnd(in bytes: ArraySlice<UInt8>) -> Int? {
        bytes.withUnsafeBytes { memory in
            guard let start = memory.baseAddress, let found = memchr(start, 0x0A, memory.count) else { return nil }
            return bytes.startIndex + start.distance(to: UnsafeRawPointer(found))
        }
    }

    /// The beginning of an answer that is not taken apart, and how long all of it is.
    struct Beginning: Sendable {
        let text: String
        let length: Int

        /// How many characters of Base64 its body is.
        var encodedLength: Int? {
            text.range(of: #""body_base64":""#).map { mark in
                length - text.utf8.distance(from: text.startIndex, to: mark.upperBound) - #""}"#.utf8.count
            }
        }
    }

    /// Reads to the end, or until nothing comes in time, and keeps the first bytes of each answer alone.
    func beginnings(of kept: Int = 1000, within limit: Duration = .seconds(60)) async -> [Beginning] {
        var result: [Beginning] = []
        var (line, length) = ([UInt8](), 0)
        var bytes = rest.withLock { rest in
            defer { rest = [] }
            return rest
        }
        var deadline = ContinuousClock.now + limit
        while true {
            while let end = Self.lineEnd(in: bytes) {
                line += bytes[..<end].prefix(kept - line.count)
                length += end - bytes.startIndex
                result.append(Beginning(text: String(decoding: line, as: UTF8.self), length: length))
                (line, length) = ([], 0)
                bytes = bytes[(end + 1)...]
            }
            line += bytes.prefix(kept - line.count)
            length += bytes.count
            guard let piece = readPiece() else { return result }
            bytes = piece[...]
            if piece.isEmpty {
                guard ContinuousClock.now < deadline else { return result }
                try? await Task.sleep(for: .milliseconds(1))
            } else {
                deadline = ContinuousClock.now + limit
            }
        }
    }

    /// Ends the input and takes all answers that come, by their ids.
    func finish() async -> [String: Answer] {
        closeInput()
        var answers: [String: Answer] = [:]
        while let answer = await next() { answers[answer.id] = answer }
        return answers
    }

    /// The exit status, once it has ended by itself; nil when it does not, or was ended by a signal.
    func exitStatus() async -> Int32? {
        _ = await eventually { !process.isRunning }
        return process.exitStatus(within: 1)
    }

    /// Requests at once, then the end of input.
    static func answers(_ lines: [String], _ arguments: [String] = []) async throws -> [String: Answer] {
        let pipe = try PipeProcess(arguments)
        await pipe.write(lines, ends: true)
        return await pipe.finish()
    }
}
