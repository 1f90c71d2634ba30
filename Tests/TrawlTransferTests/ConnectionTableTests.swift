import CTrawlCurl
import Glibc
import TestSupport
import Testing
import TrawlProtocol

@testable import TrawlTransfer

@Suite("Connections are known by both of their ends")
struct ConnectionTableTests {
    /// Connections of a table, and the listening sockets they go to.
    private final class Scene {
        let table = ConnectionTable()
        private var descriptors: [Int32] = []

        deinit {
            for connection in table.open { _ = table.closeSocket(connection.socket) }
            for descriptor in descriptors { close(descriptor) }
        }

        private static func address(_ host: UInt32, _ port: UInt16) -> sockaddr_in {
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_addr.s_addr = (UInt32(127) << 24 | host).bigEndian
            address.sin_port = port.bigEndian
            return address
        }

        private static func with<Result>(
            _ address: sockaddr_in, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
        ) -> Result {
            withUnsafePointer(to: address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
                }
            }
        }

        /// Listens on 127.0.0.`host`: the port.
        func listen(_ host: UInt32, _ port: UInt16 = 0) throws -> UInt16 {
            let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            descriptors.append(socket)
            try #require(Self.with(Self.address(host, port)) { bind(socket, $0, $1) } == 0)
            try #require(Glibc.listen(socket, 8) == 0)
            return try Self.localPort(of: socket)
        }

        private static func localPort(of socket: Int32) throws -> UInt16 {
            var address = sockaddr_in()
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            let result = withUnsafeMutablePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(socket, $0, &length) }
            }
            try #require(result == 0)
            return UInt16(bigEndian: address.sin_port)
        }

        /// Opens a socket as libcurl does, from a local port that others may have too; 0 is any.
        func open(
            from port: UInt16, for origin: CountedOrigin? = nil, outsideTable: Bool = false
        ) throws -> (socket: Int32, port: UInt16) {
            var address = curl_sockaddr()
            address.family = AF_INET
            address.socktype = Int32(SOCK_STREAM.rawValue)
            let socket =
                outsideTable
                ? Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0) : table.openSocket(&address, for: origin)
            var yes: Int32 = 1
            setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
            try #require(Self.with(Self.address(1, port)) { bind(socket, $0, $1) } == 0)
            return (socket, try Self.localPort(of: socket))
        }

        func connect(_ socket: Int32, to host: UInt32, _ port: UInt16) throws {
            try #require(Self.with(Self.address(host, port)) { Glibc.connect(socket, $0, $1) } == 0)
        }

        func find(_ host: UInt32, _ port: UInt16, from local: UInt16) -> Int32? {
            table.find(
                remote: "127.0.0.\(host)", remotePort: Int32(port), local: "127.0.0.1", localPort: Int32(local))?.socket
        }
    }

    @Test("those that have one local port are told apart by their peers' addresses and ports")
    func oneLocalPort() throws {
        let scene = Scene()
        let here = try scene.listen(1)
        let there = try scene.listen(2)
        let beside = try scene.listen(1)
        let (first, local) = try scene.open(from: 0)
        let (second, _) = try scene.open(from: local)
        let (third, _) = try scene.open(from: local)
        try scene.connect(first, to: 1, here)
        try scene.connect(second, to: 2, there)
        try scene.connect(third, to: 1, beside)
        #expect(scene.find(1, here, from: local) == first)
        #expect(scene.find(1, beside, from: local) == third)
        #expect(scene.find(2, there, from: local) == second)
        #expect(scene.find(2, here, from: local) == nil)
    }

    @Test("a socket that libcurl closed without a word is forgotten, and who has its number since is left alone")
    func closedSilently() async {
        // Numbers of sockets are closed and looked for again: nobody else may open a file meanwhile.
        await #expect(processExitsWith: .success) {
            try #require(OwnDescriptors.take())
            let scene = Scene()
            let port = try scene.listen(1)
            let origin = CountedOrigin(number: 7, most: 9)
            let (gone, _) = try scene.open(from: 0, for: origin)
            let number = scene.table.lastNumber
            #expect(close(gone) == 0)
            // The system gives the lowest number that is free.
            let (other, local) = try scene.open(from: 0, outsideTable: true)
            try #require(other == gone)
            try scene.connect(other, to: 1, port)
            #expect(scene.find(1, port, from: local) == nil)
            scene.table.closeStale(at: .max)
            scene.table.settle([number])
            #expect(scene.table.count == 0)
            #expect(scene.table.changed == [7])
            #expect(!scene.table.closeIdle(of: 7))
            var bytes: [UInt8] = [0]
            #expect(recv(other, &bytes, 1, Int32(MSG_DONTWAIT)) == -1 && errno == EAGAIN, "it was shut down")
            // So it is where libcurl is given the number again.
            close(other)
            let (again, _) = try scene.open(from: 0)
            close(again)
            let (last, _) = try scene.open(from: 0)
            #expect(last == again && scene.table.count == 1)
            #expect(scene.table.closeSocket(last) == 0 && scene.table.count == 0)
        }
    }

    @Test("the system is asked for the ends of a connection only when no known one fits")
    func knownFirst() throws {
        let scene = Scene()
        let port = try scene.listen(1)
        let (older, olderPort) = try scene.open(from: 0)
        let (newer, newerPort) = try scene.open(from: 0)
        try scene.connect(older, to: 1, port)
        try scene.connect(newer, to: 1, port)
        for _ in 0..<2 {
            #expect(scene.find(1, port, from: newerPort) == newer)
            #expect(scene.table.open.first?.remotePort == 0)
        }
        #expect(scene.find(1, port, from: olderPort) == older)
        #expect(scene.find(1, port, from: newerPort) == newer)
    }

    @Test("one that is not connected yet is not taken for another, and is found when it is")
    func notYetConnected() throws {
        let scene = Scene()
        let port = try scene.listen(1)
        let (waiting, local) = try scene.open(from: 0)
        #expect(scene.find(1, port, from: local) == nil)
        try scene.connect(waiting, to: 1, port)
        #expect(scene.find(1, port, from: local) == waiting)
        #expect(scene.table.open.first?.remoteAddress == "127.0.0.1")
        #expect(scene.table.open.first?.remotePort == Int32(port))
    }
}
