import Glibc

/// A client of a few lines that asks the origin about itself: no part of what is tested takes part in the answer.
enum PlainClient {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// Sends a GET on a connection of its own and returns the body.
    static func get(port: UInt16, target: String) throws -> [UInt8] {
        let answer = try exchange(
            port: port, "GET \(target) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nConnection: close\r\n\r\n")
        guard let end = end(ofHead: answer) else { throw Failure(description: "no head in the answer to \(target)") }
        guard answer.starts(with: Array("HTTP/1.1 200".utf8)) else {
            throw Failure(description: "\(target): \(String(decoding: answer.prefix(64), as: UTF8.self))")
        }
        return Array(answer[end...])
    }

    /// Sends bytes and returns all that comes until the peer closes.
    static func exchange(port: UInt16, _ request: String) throws -> [UInt8] {
        let descriptor = try connect(port: port)
        defer { close(descriptor) }
        let bytes = Array(request.utf8)
        guard send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count else {
            throw Failure(description: "send: errno \(errno)")
        }
        var answer: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = recv(descriptor, &buffer, buffer.count, 0)
            if count < 0 && errno == EINTR { continue }
            guard count >= 0 else { throw Failure(description: "recv: errno \(errno)") }
            if count == 0 { return answer }
            answer += buffer[..<count]
        }
    }

    /// A connection to a port of 127.0.0.1, with a limit of 30 s on every call.
    static func connect(port: UInt16) throws -> Int32 {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw Failure(description: "socket: errno \(errno)") }
        var limit = timeval(tv_sec: 30, tv_usec: 0)
        let size = socklen_t(MemoryLayout<timeval>.size)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, size)
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, size)
        guard SocketAddress.loopback(port).withPointer({ Glibc.connect(descriptor, $0, $1) }) == 0 else {
            let reason = errno
            close(descriptor)
            throw Failure(description: "connect to port \(port): errno \(reason)")
        }
        return descriptor
    }

    private static func end(ofHead bytes: [UInt8]) -> Int? {
        let mark = Array("\r\n\r\n".utf8)
        guard bytes.count >= mark.count else { return nil }
        return (0...(bytes.count - mark.count)).first { Array(bytes[$0..<($0 + mark.count)]) == mark }
            .map { $0 + mark.count }
    }
}

/// An IPv4 address for the calls of the socket interface.
struct SocketAddress {
    private var address = sockaddr_in()

    /// A port of 127.0.0.1.
    static func loopback(_ port: UInt16) -> SocketAddress {
        var result = SocketAddress()
        result.address.sin_family = sa_family_t(AF_INET)
        result.address.sin_port = port.bigEndian
        result.address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return result
    }

    func withPointer<Value>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Value) -> Value {
        withUnsafeBytes(of: address) { bytes in
            body(bytes.assumingMemoryBound(to: sockaddr.self).baseAddress.unsafelyUnwrapped, socklen_t(bytes.count))
        }
    }
}

/// A port of 127.0.0.1 that refuses connections as long as this process lives: nobody else can get it.
enum ClosedPort {
    /// 0 when there is none to be had.
    static let number = socket?.port ?? 0
    private static let socket = try? ListeningSocket(backlog: nil)
}

/// A listening socket of 127.0.0.1 on a port the system chose, which nobody else gets as long as this lives, also when
/// the socket is shut down and refuses connections.
final class ListeningSocket: Sendable {
    let descriptor: Int32
    let port: UInt16
    /// Has the port as well, and does not listen; -1 when there is none.
    private let keeper: Int32

    /// - Parameter backlog: Nil has the port and does not listen on it.
    init(backlog: Int32? = 16) throws {
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        let listener = socket(AF_INET, kind, 0)
        let second = backlog == nil ? -1 : socket(AF_INET, kind, 0)
        // Two that say so may have one port, of which one listens.
        var isShared: Int32 = 1
        if second >= 0 {
            for each in [listener, second] {
                setsockopt(each, SOL_SOCKET, SO_REUSEADDR, &isShared, socklen_t(MemoryLayout<Int32>.size))
            }
        }
        let bound = SocketAddress.loopback(0).withPointer { bind(listener, $0, $1) }
        var name = sockaddr_in()
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let named = withUnsafeMutablePointer(to: &name) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(listener, $0, &size) }
        }
        let chosen = UInt16(bigEndian: name.sin_port)
        var kept: Int32 = 0
        var listens: Int32 = 0
        if let backlog {
            kept = SocketAddress.loopback(chosen).withPointer { bind(second, $0, $1) }
            if kept == 0 { listens = listen(listener, backlog) }
        }
        guard listener >= 0, bound == 0, named == 0, kept == 0, listens == 0 else {
            let reason = errno
            for each in [listener, second] where each >= 0 { close(each) }
            throw PlainClient.Failure(description: "no socket to listen on: errno \(reason)")
        }
        descriptor = listener
        keeper = second
        port = chosen
    }

    deinit {
        close(descriptor)
        if keeper >= 0 { close(keeper) }
    }
}
