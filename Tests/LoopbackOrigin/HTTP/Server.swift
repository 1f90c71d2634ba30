import Glibc
import Synchronization

/// The listening sockets and what all connections share.
final class Server: Sendable {
    /// Why the server could not start.
    struct StartFailure: Error {
        var message: String
    }

    let options: Options
    let port: UInt16
    let ledger: Ledger
    private let listeners: [Int32]
    private let open = Atomic<Int>(0)
    private let accepted = Atomic<Int>(0)

    /// Binds every address to one port; with port 0 another port is tried when a later address has it in use.
    init(options: Options) throws(StartFailure) {
        self.options = options
        var result: (listeners: [Int32], port: UInt16)?
        for _ in 0..<(options.port == 0 ? 32 : 1) where result == nil {
            result = try Server.listen(options)
        }
        guard let result else { throw StartFailure(message: "no port is free on all addresses") }
        listeners = result.listeners
        port = result.port
        ledger = try Ledger(options: options)
    }

    /// One accepting thread for each address.
    func startAccepting() throws(StartFailure) {
        for (index, listener) in listeners.enumerated() {
            let started = SmallThread.start { self.accept(on: listener, address: index) }
            guard started else { throw StartFailure(message: "cannot start a thread") }
        }
    }

    private func accept(on listener: Int32, address: Int) {
        while true {
            var peer = sockaddr_in()
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            let descriptor = withUnsafeMutablePointer(to: &peer) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { Glibc.accept(listener, $0, &length) }
            }
            guard descriptor >= 0 else {
                if errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS { usleep(10_000) }
                continue
            }
            let peerPort = UInt16(bigEndian: peer.sin_port)
            guard open.wrappingAdd(1, ordering: .relaxed).newValue <= options.maxConnections else {
                refuse(descriptor)
                continue
            }
            let number = accepted.wrappingAdd(1, ordering: .relaxed).newValue
            ledger.connectionOpened(number, address: address, descriptor)
            let started = SmallThread.start {
                Connection(
                    descriptor: descriptor, number: number, peerPort: peerPort, server: self
                ).serve()
                self.ledger.connectionCloses(number, address: address, descriptor)
                close(descriptor)
                self.open.wrappingSubtract(1, ordering: .relaxed)
            }
            if !started {
                ledger.connectionCloses(number, address: address, descriptor)
                refuse(descriptor)
            }
        }
    }

    private func refuse(_ descriptor: Int32) {
        let text = "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        let bytes = Array(text.utf8)
        _ = send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
        close(descriptor)
        open.wrappingSubtract(1, ordering: .relaxed)
    }

    /// - Returns: Nil when the port chosen for the first address is taken on another one.
    private static func listen(_ options: Options) throws(StartFailure) -> (listeners: [Int32], port: UInt16)? {
        var port = options.port
        var listeners: [Int32] = []
        for index in 0..<options.addressCount {
            let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            guard descriptor >= 0 else { throw StartFailure(message: "socket: \(errno)") }
            var yes: Int32 = 1
            let size = socklen_t(MemoryLayout<Int32>.size)
            setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, size)
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = port.bigEndian
            let last = UInt32(options.octets[3]) + UInt32(index)
            let host = options.octets.prefix(3).reduce(UInt32(0)) { $0 << 8 | UInt32($1) } << 8 | last
            address.sin_addr.s_addr = host.bigEndian
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            let bound = withUnsafeMutablePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { name in
                    bind(descriptor, name, length) == 0 && Glibc.listen(descriptor, 4096) == 0
                        && getsockname(descriptor, name, &length) == 0
                }
            }
            listeners.append(descriptor)
            guard bound else {
                let code = errno
                for listener in listeners { close(listener) }
                if options.port == 0, index > 0, code == EADDRINUSE { return nil }
                throw StartFailure(message: "cannot listen on \(options.address(index)):\(port): errno \(code)")
            }
            port = UInt16(bigEndian: address.sin_port)
        }
        return (listeners, port)
    }
}
