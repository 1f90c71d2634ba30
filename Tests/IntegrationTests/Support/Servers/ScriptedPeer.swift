import Foundation
import Glibc
import TrawlPlatform

/// A server whose every byte a test writes itself, on a thread for each connection.
final class ScriptedPeer: Sendable {
    /// One connection.
    ///
    /// `@unchecked Sendable` holds because it is handed to its own thread when it is made, and used by that alone.
    final class Connection: @unchecked Sendable {
        private let descriptor: Int32
        private var waiting: [UInt8] = []

        fileprivate init(_ descriptor: Int32) { self.descriptor = descriptor }

        /// Reads up to an empty line; nil when the connection ended before.
        func readHead() -> String? {
            let mark = Array("\r\n\r\n".utf8)
            while true {
                if let range = waiting.firstRange(of: mark) {
                    let head = String(decoding: waiting[..<range.upperBound], as: UTF8.self)
                    waiting.removeFirst(range.upperBound)
                    return head
                }
                guard fill() else { return nil }
            }
        }

        /// Reads so many bytes; nil when the connection ended before.
        func read(_ count: Int) -> [UInt8]? {
            while waiting.count < count { if !fill() { return nil } }
            defer { waiting.removeFirst(count) }
            return Array(waiting[..<count])
        }

        /// - Returns: False when nobody takes it any more.
        @discardableResult
        func send(_ text: String) -> Bool { send(Array(text.utf8)) }

        @discardableResult
        func send(_ bytes: [UInt8]) -> Bool {
            var sent = 0
            while sent < bytes.count {
                let count = bytes.withUnsafeBytes {
                    Glibc.send(
                        descriptor, $0.baseAddress.unsafelyUnwrapped + sent, $0.count - sent, Int32(MSG_NOSIGNAL))
                }
                if count <= 0 { return false }
                sent += count
            }
            return true
        }

        /// Tells the other side that no more comes; what it sends is taken as before.
        func endSending() { shutdown(descriptor, Int32(SHUT_WR)) }

        /// Reads and drops whatever comes until the other side closes.
        func drain() { while fill() { waiting.removeAll() } }

        /// Carries bytes both ways between this connection and a port of 127.0.0.1 until either closes.
        func tunnel(to port: UInt16) {
            guard let other = try? PlainClient.connect(port: port) else { return }
            defer { close(other) }
            var buffer = [UInt8](repeating: 0, count: 64 << 10)
            var both = [
                pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
                pollfd(fd: other, events: Int16(POLLIN), revents: 0),
            ]
            while poll(&both, 2, 30_000) > 0 {
                for (from, to) in [(0, 1), (1, 0)] where both[from].revents != 0 {
                    let count = recv(both[from].fd, &buffer, buffer.count, 0)
                    guard count > 0, Glibc.send(both[to].fd, buffer, count, Int32(MSG_NOSIGNAL)) == count else {
                        return
                    }
                }
            }
        }

        private func fill() -> Bool {
            var buffer = [UInt8](repeating: 0, count: 16 << 10)
            let count = recv(descriptor, &buffer, buffer.count, 0)
            if count > 0 { waiting += buffer[..<count] }
            return count > 0
        }
    }

    let port: UInt16
    private let socket: ListeningSocket
    private let open = Guarded<Set<Int32>?>([])

    /// - Parameter serve: Has a connection, which is closed when it returns, and its number, counted from 1.
    init(_ serve: @escaping @Sendable (Connection, Int) -> Void) throws {
        let socket = try ListeningSocket(backlog: 64)
        self.socket = socket
        port = socket.port
        Thread.detachNewThread { [self] in
            for number in 1... {
                var descriptor: Int32
                repeat { descriptor = accept(socket.descriptor, nil, nil) } while descriptor < 0 && errno == EINTR
                guard descriptor >= 0 else { return }
                _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
                let connection = descriptor
                guard open.withLock({ $0?.insert(connection).inserted ?? false }) else {
                    close(connection)
                    return
                }
                Thread.detachNewThread { [self] in
                    serve(Connection(connection), number)
                    open.withLock { _ = $0?.remove(connection) }
                    close(connection)
                }
            }
        }
    }

    /// Its place, for `-x`.
    var place: String { "127.0.0.1:\(port)" }

    /// Ends it and its connections.
    func stop() {
        open.withLock { state in
            for descriptor in state ?? [] { shutdown(descriptor, Int32(SHUT_RDWR)) }
            state = nil
        }
        shutdown(socket.descriptor, Int32(SHUT_RDWR))
    }
}
