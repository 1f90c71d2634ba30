import Glibc
import Testing

/// A port of 127.0.0.1 at which no connection comes to stand: its queue is full, so that the system drops what asks for one.
final class SilentListener {
    let port: UInt16
    private var descriptors: [Int32] = []

    init() throws {
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        let listener = socket(AF_INET, kind, 0)
        descriptors.append(listener)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = (UInt32(127) << 24 | 1).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isListening = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { name in
                bind(listener, name, length) == 0 && listen(listener, 0) == 0
                    && getsockname(listener, name, &length) == 0
            }
        }
        port = UInt16(bigEndian: address.sin_port)
        try #require(isListening)
        // One is taken in; the others wait.
        for _ in 0..<4 {
            let filler = socket(AF_INET, kind | Int32(SOCK_NONBLOCK.rawValue), 0)
            descriptors.append(filler)
            withUnsafePointer(to: address) { pointer in
                _ = pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(filler, $0, length) }
            }
        }
    }

    deinit {
        for descriptor in descriptors { close(descriptor) }
    }

    var url: String { "http://127.0.0.1:\(port)/" }
}
