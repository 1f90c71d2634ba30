import Glibc
import TrawlPlatform
import TrawlProtocol

/// The worker's end of the control socket, used in a blocking way.
struct ControlLine {
    /// What came.
    enum Event {
        case message(CoordinatorMessage, [Int32])
        /// The time was over.
        case nothing
        /// The coordinator closed.
        case end
    }

    private let socket = WorkerProcess.controlNumber
    private var incoming = IncomingFrames()

    /// Waits for the next message.
    mutating func next(within milliseconds: Int32) -> Event {
        while true {
            do throws(FrameError) {
                if let (message, descriptors) = try incoming.next(CoordinatorMessage.read) {
                    return .message(message, descriptors)
                }
            } catch {
                die("the coordinator sent \(error)")
            }
            var wait = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
            if poll(&wait, 1, milliseconds) == 0 { return .nothing }
            var descriptors: [Int32] = []
            var end = false
            _ = incoming.fill { buffer in
                switch try? ControlSocket.receive(socket, into: buffer, descriptors: &descriptors) {
                case .bytes(let count)?: return count
                case .wouldBlock?: return 0
                case .endOfStream?, nil:
                    end = true
                    return 0
                }
            }
            incoming.add(descriptors)
            if end { return .end }
        }
    }

    /// Sends a message whole.
    func send(_ message: WorkerMessage, descriptors: [Int32] = []) {
        send(message.frame, descriptors: descriptors)
    }

    /// Sends bytes, the descriptors with the first of them. The process ends with status 0 when nobody reads any more.
    func send(_ bytes: [UInt8], descriptors: [Int32] = []) {
        var sent = 0
        while sent < bytes.count {
            do {
                let count = try bytes.withUnsafeBytes { bytes in
                    try ControlSocket.send(
                        socket, UnsafeRawBufferPointer(rebasing: bytes[sent...]),
                        descriptors: sent == 0 ? descriptors : [])
                }
                if let count {
                    sent += count
                    continue
                }
            } catch {
                exit(0)
            }
            var wait = pollfd(fd: socket, events: Int16(POLLOUT), revents: 0)
            _ = poll(&wait, 1, 1000)
        }
    }

    func close() {
        shutdown(socket, Int32(SHUT_RDWR))
        _ = Glibc.close(socket)
    }
}

extension WorkerMessage {
    /// The bytes of the message's frame.
    var frame: [UInt8] {
        var writer = WireWriter()
        _ = write(to: &writer)
        return writer.bytes
    }
}

/// Says why on standard error and ends with a status that means nothing to the coordinator.
func die(_ reason: String) -> Never {
    let bytes = Array("faulty-worker: \(reason)\n".utf8)
    _ = write(2, bytes, bytes.count)
    exit(99)
}
