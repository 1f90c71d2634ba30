import Glibc
import Testing
import TrawlPlatform

@Suite("Control socket")
struct ControlSocketTests {
    private func receive(_ fd: Int32, _ descriptors: inout [Int32], room: Int = 4096) throws -> ControlSocket.Received {
        try withUnsafeTemporaryAllocation(byteCount: room, alignment: 1) {
            try ControlSocket.receive(fd, into: $0, descriptors: &descriptors)
        }
    }

    @Test("both ends are close-on-exec and do not block")
    func flags() throws {
        let pair = try ControlSocket.pair(sendBuffer: 65536, receiveBuffer: 65536)
        for end in [pair.here.rawValue, pair.there.rawValue] {
            #expect(isCloseOnExec(end))
            var descriptors: [Int32] = []
            #expect(try receive(end, &descriptors) == .wouldBlock)
        }
    }

    @Test("bytes arrive in order, and the end of the stream after them")
    func bytes() throws {
        let pair = try ControlSocket.pair()
        #expect(try withBytes("hello") { try ControlSocket.send(pair.there.rawValue, $0) } == 5)
        let here = pair.keepingHere()
        var descriptors: [Int32] = []
        #expect(try readAll(here.rawValue, descriptors: &descriptors) == "hello")
        #expect(descriptors.isEmpty)
    }

    @Test("a full socket takes part of the bytes, then none, and goes on after a read")
    func full() throws {
        let pair = try ControlSocket.pair(sendBuffer: 8192)
        let block = [UInt8](repeating: 7, count: 100_000)
        var sent = 0
        while let count = try block.withUnsafeBytes({ try ControlSocket.send(pair.here.rawValue, $0) }) {
            sent += count
        }
        #expect(sent > 0)
        var descriptors: [Int32] = []
        var read = 0
        while case .bytes(let count) = try receive(pair.there.rawValue, &descriptors, room: 65536) { read += count }
        #expect(read == sent)
        #expect(try block.withUnsafeBytes { try ControlSocket.send(pair.here.rawValue, $0) } != nil)
    }

    @Test("sending to a closed peer is EPIPE, not a signal")
    func closed() throws {
        let pair = try ControlSocket.pair()
        let here = pair.keepingHere()
        awaitHangUp(here.rawValue)
        #expect(errorNumber { _ = try withBytes("x") { try ControlSocket.send(here.rawValue, $0) } } == EPIPE)
    }

    @Test("a peer that dies with unread bytes is the end of the stream, after what it sent")
    func reset() throws {
        let pair = try ControlSocket.pair()
        _ = try withBytes("unread") { try ControlSocket.send(pair.here.rawValue, $0) }
        _ = try withBytes("last words") { try ControlSocket.send(pair.there.rawValue, $0) }
        let here = pair.keepingHere()
        awaitHangUp(here.rawValue)
        var descriptors: [Int32] = []
        #expect(try receive(here.rawValue, &descriptors) == .bytes(10))
        #expect(try receive(here.rawValue, &descriptors) == .endOfStream)
        #expect(try receive(here.rawValue, &descriptors) == .endOfStream)
    }

    @Test("descriptors arrive with their bytes, close-on-exec and of the same file", arguments: [1, 2, 15, 16])
    func descriptors(count: Int) throws {
        let pair = try ControlSocket.pair()
        var files: [Int32] = []
        for index in 0..<count {
            let file = try MemoryFile(name: "test")
            try withBytes("file \(index)") { try file.write($0) }
            files.append(try file.descriptor.duplicated(atLeast: 3).release())
        }
        #expect(try withBytes("!") { try ControlSocket.send(pair.here.rawValue, $0, descriptors: files) } == 1)
        for file in files { close(file) }

        var came: [Int32] = []
        #expect(try receive(pair.there.rawValue, &came) == .bytes(1))
        #expect(came.count == count)
        for (index, file) in came.enumerated() {
            #expect(isCloseOnExec(file))
            var text = [UInt8](repeating: 0, count: 32)
            let length = pread(file, &text, 32, 0)
            #expect(String(decoding: text.prefix(max(0, length)), as: UTF8.self) == "file \(index)")
            close(file)
        }
    }

    @Test("many messages with descriptors keep their order")
    func manyMessages() throws {
        let pair = try ControlSocket.pair()
        let file = try MemoryFile(name: "test")
        var came: [Int32] = []
        for _ in 0..<50 {
            for _ in 0..<4 {
                _ = try withBytes("ab") {
                    try ControlSocket.send(
                        pair.here.rawValue, $0, descriptors: Array(repeating: file.descriptor.rawValue, count: 16))
                }
            }
            var read = 0
            while read < 8, case .bytes(let count) = try receive(pair.there.rawValue, &came) { read += count }
            #expect(read == 8)
            #expect(came.count == 64)
            for file in came { close(file) }
            came = []
        }
    }

    @Test("a message with more descriptors than allowed is an error that leaks none")
    func tooMany() async {
        // In a process of its own, so that no other test's descriptors can be the lost ones.
        await #expect(processExitsWith: .exitCode(0)) {
            let pair = try ControlSocket.pair()
            let file = try MemoryFile(name: "test")
            guard sendTooMany(pair.here.rawValue, file.descriptor.rawValue) == 1 else { exit(2) }
            var came: [Int32] = []
            let error = errorNumber {
                _ = try withUnsafeTemporaryAllocation(byteCount: 64, alignment: 1) {
                    try ControlSocket.receive(pair.there.rawValue, into: $0, descriptors: &came)
                }
            }
            exit(error == EMSGSIZE && came.isEmpty && openCount(ofTheFileOf: file.descriptor.rawValue) == 1 ? 0 : 1)
        }
    }

    @Test(
        "what the system has no room for goes later, and the stream is whole",
        .enabled(if: geteuid() != 0, "root may do it anyway"))
    func shortage() async {
        await #expect(processExitsWith: .exitCode(0)) {
            let pair = try ControlSocket.pair()
            let file = try MemoryFile(name: "test")
            let files = [file.descriptor.rawValue]
            var limit = rlimit()
            getrlimit(__rlimit_resource_t(7), &limit)
            let usual = limit.rlim_cur
            // So many of the user's may be on their way; other processes of the user have some, too.
            limit.rlim_cur = 32
            setrlimit(__rlimit_resource_t(7), &limit)
            var sent = 0
            while sent < 100 {
                let count = try withBytes("x") {
                    try ControlSocket.send(pair.here.rawValue, $0, descriptors: files)
                }
                if count == nil { break }
                sent += 1
            }
            // The socket is not full.
            let without = try withBytes("x") { try ControlSocket.send(pair.here.rawValue, $0) }
            guard sent < 100, without == 1 else { exit(2) }
            limit.rlim_cur = usual
            setrlimit(__rlimit_resource_t(7), &limit)
            let later = try withBytes("x") { try ControlSocket.send(pair.here.rawValue, $0, descriptors: files) }
            guard later == 1, openCount(ofTheFileOf: files[0]) == 1 else { exit(3) }
            var came: [Int32] = []
            var bytes = 0
            try withUnsafeTemporaryAllocation(byteCount: 64, alignment: 1) { room in
                while case .bytes(let count) = try ControlSocket.receive(
                    pair.there.rawValue, into: room, descriptors: &came)
                {
                    bytes += count
                }
            }
            exit(bytes == sent + 2 && came.count == sent + 1 ? 0 : 1)
        }
    }

    @Test("descriptors lost for want of free numbers are an error that leaks none")
    func noNumbers() async {
        await #expect(processExitsWith: .exitCode(0)) {
            let pair = try ControlSocket.pair()
            let file = try MemoryFile(name: "test")
            let free = try file.descriptor.duplicated(atLeast: 3).release()
            close(free)
            _ = try withBytes("x") {
                try ControlSocket.send(
                    pair.here.rawValue, $0, descriptors: Array(repeating: file.descriptor.rawValue, count: 8))
            }
            var limit = rlimit()
            getrlimit(__rlimit_resource_t(7), &limit)
            limit.rlim_cur = rlim_t(free + 3)
            setrlimit(__rlimit_resource_t(7), &limit)
            var came: [Int32] = []
            let error = errorNumber {
                _ = try withUnsafeTemporaryAllocation(byteCount: 64, alignment: 1) {
                    try ControlSocket.receive(pair.there.rawValue, into: $0, descriptors: &came)
                }
            }
            exit(error == EMFILE && came.isEmpty && openCount(ofTheFileOf: file.descriptor.rawValue) == 1 ? 0 : 1)
        }
    }
}

/// Sends one byte with 20 copies of a descriptor, as a hostile peer could.
private func sendTooMany(_ socket: Int32, _ file: Int32) -> Int {
    let count = 20
    var byte: UInt8 = 1
    var vector = iovec()
    var control = [UInt64](repeating: 0, count: 16)
    let length = MemoryLayout<cmsghdr>.size + count * 4
    return withUnsafeMutablePointer(to: &byte) { byte in
        vector.iov_base = UnsafeMutableRawPointer(byte)
        vector.iov_len = 1
        return control.withUnsafeMutableBytes { control in
            var header = cmsghdr()
            header.cmsg_len = length
            header.cmsg_level = SOL_SOCKET
            header.cmsg_type = Int32(SCM_RIGHTS)
            control.storeBytes(of: header, as: cmsghdr.self)
            for index in 0..<count {
                control.storeBytes(of: file, toByteOffset: MemoryLayout<cmsghdr>.size + index * 4, as: Int32.self)
            }
            return withUnsafeMutablePointer(to: &vector) { vector in
                var message = msghdr()
                message.msg_iov = vector
                message.msg_iovlen = 1
                message.msg_control = control.baseAddress
                message.msg_controllen = length
                return sendmsg(socket, &message, 0)
            }
        }
    }
}
