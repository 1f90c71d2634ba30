import Foundation
import Glibc

/// An HTTP/1.1 origin whose answers a test writes itself.
///
/// Every connection has a thread of its own, so an answer may wait for whatever the test waits for.
final class ScriptedOrigin: Sendable {
    /// A request as it came.
    struct Seen: Sendable {
        let method: String
        let target: String
        /// Names in lower case; the last line of a name counts.
        let fields: [String: String]
        /// How many requests there have been for this target, this one included.
        let number: Int
        /// The head as it came.
        let head: [UInt8]
    }

    /// How the end of a body is told.
    enum Framing {
        case length, chunked
        /// The connection closes.
        case close
    }

    /// What is sent back.
    struct Answer: Sendable {
        var status = 200
        var fields: [(String, String)] = []
        /// Field lines as they are sent, bytes and all.
        var lines: [[UInt8]] = []
        var body: [UInt8] = []
        /// The length the head announces; nil is that of the body.
        var announced: Int?
        var framing = Framing.length
        /// Whether the connection is closed in place of an answer.
        var hangsUp = false
        /// Bytes that are sent in place of an answer, before the connection is closed.
        var raw: [UInt8]?
        /// More of the body, sent once the occasion has come.
        var rest: (bytes: [UInt8], after: Occasion)?

        init(_ status: Int = 200, _ body: String = "", _ fields: [(String, String)] = []) {
            self.status = status
            self.body = Array(body.utf8)
            self.fields = fields
        }

        /// These bytes, and the end of the connection.
        static func raw(_ text: String) -> Answer {
            var answer = Answer()
            answer.raw = Array(text.utf8)
            return answer
        }

        /// A connection that is closed without a byte.
        static var nothing: Answer {
            var answer = Answer()
            answer.hangsUp = true
            return answer
        }
    }

    private struct State {
        var seen: [Seen] = []
        /// How many there are for each target.
        var counts: [String: Int] = [:]
        var connections: Set<Int32> = []
        var isOver = false
    }

    private let socket: ListeningSocket
    private let answering: @Sendable (Seen) -> Answer
    private let state = Locked(State())

    /// Starts an origin on a free port of 127.0.0.1.
    init(_ answering: @escaping @Sendable (Seen) -> Answer) throws {
        socket = try ListeningSocket(backlog: 256)
        self.answering = answering
        let descriptor = socket.descriptor
        Thread.detachNewThread { [self] in
            while true {
                let connection = accept(descriptor, nil, nil)
                if connection < 0 {
                    if errno == EINTR || errno == ECONNABORTED { continue }
                    return
                }
                _ = fcntl(connection, F_SETFD, FD_CLOEXEC)
                let isWanted = state.withLock { state in
                    if !state.isOver { state.connections.insert(connection) }
                    return !state.isOver
                }
                guard isWanted else {
                    close(connection)
                    return
                }
                Thread.detachNewThread { [self] in serve(connection) }
            }
        }
    }

    /// Where it listens, on 127.0.0.1.
    var port: UInt16 { socket.port }

    /// The URL of a target.
    func url(_ target: String = "/") -> String { "http://127.0.0.1:\(socket.port)\(target)" }

    /// The requests so far, all or those for a target, in order.
    func seen(_ target: String? = nil) -> [Seen] {
        state.withLock { $0.seen.filter { target == nil || $0.target == target } }
    }

    /// Ends it: from now on nobody can connect, and open connections are closed.
    func stop() {
        state.withLock { state in
            state.isOver = true
            for connection in state.connections { shutdown(connection, Int32(SHUT_RDWR)) }
        }
        shutdown(socket.descriptor, Int32(SHUT_RDWR))
    }

    /// Closes all open connections; new ones are taken.
    func breakConnections() {
        state.withLock { for connection in $0.connections { shutdown(connection, Int32(SHUT_RDWR)) } }
    }

    private func serve(_ connection: Int32) {
        defer {
            state.withLock { _ = $0.connections.remove(connection) }
            close(connection)
        }
        var waiting: [UInt8] = []
        while let request = readRequest(connection, &waiting) {
            let answer = answering(request)
            if (200..<300).contains(answer.status), !takeBody(of: request, connection, &waiting) { return }
            guard !answer.hangsUp, write(answer, to: request, connection) else { return }
        }
    }

    /// Reads the body of a request that asked whether it is wanted, and is told so.
    private func takeBody(of request: Seen, _ connection: Int32, _ waiting: inout [UInt8]) -> Bool {
        guard request.fields["expect"] != nil, let length = request.fields["content-length"].flatMap({ Int($0) })
        else { return true }
        let word = Array("HTTP/1.1 100 Continue\r\n\r\n".utf8)
        guard send(connection, word, word.count, Int32(MSG_NOSIGNAL)) == word.count else { return false }
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while waiting.count < length {
            let count = recv(connection, &buffer, buffer.count, 0)
            guard count > 0 else { return false }
            waiting += buffer[..<count]
        }
        waiting.removeFirst(length)
        return true
    }

    private func readRequest(_ connection: Int32, _ waiting: inout [UInt8]) -> Seen? {
        let mark = Array("\r\n\r\n".utf8)
        var buffer = [UInt8](repeating: 0, count: 16 << 10)
        func fill() -> Bool {
            let count = recv(connection, &buffer, buffer.count, 0)
            if count > 0 { waiting += buffer[..<count] }
            return count > 0
        }
        var head: Range<Int>?
        while head == nil {
            head = waiting.firstRange(of: mark)
            if head == nil, !fill() { return nil }
        }
        guard let head else { return nil }
        let bytes = Array(waiting[..<head.lowerBound])
        let lines = String(decoding: bytes, as: UTF8.self).components(separatedBy: "\r\n")
        var fields: [String: String] = [:]
        for line in lines.dropFirst() {
            guard let colon = line.firstIndex(of: ":") else { continue }
            fields[line[..<colon].lowercased()] = line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
        }
        // Who asks first whether the body is wanted is answered without it.
        let isAsked = fields["expect"] != nil
        let length = isAsked ? 0 : fields["content-length"].flatMap { Int($0) } ?? 0
        while waiting.count < head.upperBound + length { if !fill() { return nil } }
        waiting.removeFirst(head.upperBound + length)
        let words = lines[0].split(separator: " ")
        guard words.count == 3 else { return nil }
        let target = String(words[1])
        return state.withLock { state in
            let number = state.counts[target, default: 0] + 1
            state.counts[target] = number
            let seen = Seen(method: String(words[0]), target: target, fields: fields, number: number, head: bytes)
            state.seen.append(seen)
            return seen
        }
    }

    private func write(_ answer: Answer, to request: Seen, _ connection: Int32) -> Bool {
        if let raw = answer.raw {
            _ = sendAll(raw, connection)
            return false
        }
        var head = "HTTP/1.1 \(answer.status) Scripted\r\n"
        if !answer.fields.contains(where: { $0.0.lowercased() == "date" }) {
            head += "Date: \(Self.date(secondsFromNow: 0))\r\n"
        }
        for (name, value) in answer.fields { head += "\(name): \(value)\r\n" }
        let hasBody = answer.status >= 200 && answer.status != 204 && answer.status != 304
        let length = answer.body.count + (answer.rest?.bytes.count ?? 0)
        let isChunked = hasBody && answer.framing == .chunked
        if isChunked { head += "Transfer-Encoding: chunked\r\n" }
        if hasBody, answer.framing == .length { head += "Content-Length: \(answer.announced ?? length)\r\n" }
        var bytes = Array(head.utf8)
        for line in answer.lines { bytes += line + Array("\r\n".utf8) }
        bytes += Array("\r\n".utf8)
        if hasBody, request.method != "HEAD" {
            if isChunked, !answer.body.isEmpty { bytes += Array("\(String(answer.body.count, radix: 16))\r\n".utf8) }
            bytes += answer.body
            if isChunked { bytes += Array((answer.body.isEmpty ? "0\r\n\r\n" : "\r\n0\r\n\r\n").utf8) }
        }
        guard sendAll(bytes, connection) else { return false }
        if hasBody, request.method != "HEAD", let rest = answer.rest {
            rest.after.wait()
            guard sendAll(rest.bytes, connection) else { return false }
        }
        if hasBody, answer.framing == .close { return false }
        return request.method == "HEAD" || (answer.announced ?? length) == length
    }

    private func sendAll(_ bytes: [UInt8], _ connection: Int32) -> Bool {
        var sent = 0
        while sent < bytes.count {
            let count = bytes.withUnsafeBytes {
                send(connection, $0.baseAddress.unsafelyUnwrapped + sent, $0.count - sent, Int32(MSG_NOSIGNAL))
            }
            if count <= 0 { return false }
            sent += count
        }
        return true
    }

    /// A date in the form of HTTP.
    static func date(secondsFromNow seconds: Int) -> String {
        var time = time(nil) + seconds
        var parts = tm()
        gmtime_r(&time, &parts)
        let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        return String(
            format: "%@, %02d %@ %d %02d:%02d:%02d GMT", days[Int(parts.tm_wday)], parts.tm_mday,
            months[Int(parts.tm_mon)], parts.tm_year + 1900, parts.tm_hour, parts.tm_min, parts.tm_sec)
    }
}

/// Something that happens once, for threads that wait for it.
final class Occasion: Sendable {
    private let condition = NSCondition()
    private let isOpen = Locked(false)

    func open() {
        condition.withLock { isOpen.withLock { $0 = true } }
        condition.broadcast()
    }

    /// Blocks the calling thread until it is open, or so much time is over.
    func wait(atMost limit: Duration = .seconds(120)) {
        let deadline = Date(timeIntervalSinceNow: limit / .seconds(1))
        condition.withLock { while !isOpen.withLock({ $0 }), condition.wait(until: deadline) {} }
    }
}

/// A value behind a plain lock: the one of Synchronization spins, which dozens of threads on few cores do not bear.
///
/// `@unchecked Sendable` holds because the value is touched under the lock only.
final class Locked<Value: Sendable>: @unchecked Sendable {
    private let lock = NSLock()
    private var value: Value

    init(_ value: Value) { self.value = value }

    func withLock<Result>(_ body: (inout Value) -> Result) -> Result {
        lock.lock()
        defer { lock.unlock() }
        return body(&value)
    }
}
