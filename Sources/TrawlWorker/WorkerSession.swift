import Glibc
import TrawlHTTP
import TrawlPlatform
import TrawlProtocol
import TrawlTransfer

/// The main loop of a worker after its handshake.
struct WorkerSession {
    private let control: Int32
    /// The heart beats at least this often, in milliseconds.
    private let longestWait: Int32
    private let loop: TransferLoop
    private let output: TransferOutput
    private var incoming: IncomingFrames
    private var isDraining = false
    private var isBlocked = false
    /// The field lines of the latest lease.
    private var knownFields = FieldLines()

    init(control: Int32, loop: TransferLoop, handshake: Handshake, longestWait: Int32) {
        self.control = control
        self.longestWait = longestWait
        self.loop = loop
        output = handshake.output
        incoming = handshake.incoming
    }

    /// What ends the loop.
    private struct End: Error {
        let status: Int32
    }

    /// Runs until the coordinator drains this worker or goes away.
    ///
    /// Files begun are discarded in every case, by the transfers that own them.
    mutating func run() -> Int32 {
        defer { closeLeftovers() }
        do throws(End) {
            // Frames may have come with the greeting.
            try takeFrames()
            while true {
                loop.turn()
                try flush()
                if isDraining, loop.activeCount == 0, output.frames.isEmpty { return Worker.Status.finished }
                // Transfers that went on when the socket had taken everything may have said something since.
                let hasMore = !isBlocked && !output.frames.isEmpty
                let ready = loop.wait(
                    control: control, wantsToWrite: isBlocked, milliseconds: hasMore ? 0 : longestWait)
                if ready.writable { isBlocked = false }
                if ready.readable { try receive() }
            }
        } catch {
            return error.status
        }
    }

    private mutating func receive() throws(End) {
        switch ControlReader.read(control, into: &incoming) {
        case .some: try takeFrames()
        case .nothing: break
        // The coordinator is gone, and with it everyone who could want an answer.
        case .ended: throw End(status: Worker.Status.finished)
        case .short: throw End(status: Worker.Status.shortage)
        case .broken: throw End(status: Worker.Status.internalError)
        }
    }

    private mutating func takeFrames() throws(End) {
        do {
            while let frame = try incoming.nextFrame() {
                if frame.isLease {
                    let lease = try incoming.lease(of: frame, knownFields: knownFields)
                    try begin(consume lease, incoming.takeDescriptors(of: frame))
                } else {
                    let message = try incoming.coordinatorMessage(of: frame)
                    try take(consume message, incoming.takeDescriptors(of: frame))
                }
            }
        } catch {
            throw End(status: Worker.Status.protocolViolation)
        }
    }

    /// Begins a lease, which is large: it is handed on and not copied.
    private mutating func begin(_ lease: consuming Lease, _ descriptors: [Int32]) throws(ProtocolViolation) {
        guard !isDraining else {
            for descriptor in descriptors { _ = Glibc.close(descriptor) }
            throw .leaseWhileDraining
        }
        knownFields = lease.fields
        try loop.begin(consume lease, descriptors: descriptors)
    }

    private mutating func take(
        _ message: consuming CoordinatorMessage, _ descriptors: [Int32]
    ) throws(ProtocolViolation) {
        switch consume message {
        case .lease(let lease):
            try begin(consume lease, descriptors)
        case .profile(let number, let profile):
            loop.define(profile, number: number)
        case .answer(let lease, let disposition):
            loop.answer(lease, disposition, descriptors: descriptors)
        case .cancel(let lease):
            loop.cancel(lease)
        case .credit(let lease, let bytes):
            loop.credit(lease, bytes: bytes)
        case .drain:
            isDraining = true
        case .release(let origin, let count):
            loop.release(origin, count: count)
        case .order(let lease, let order):
            loop.order(lease, order)
        case .hello:
            for descriptor in descriptors { _ = Glibc.close(descriptor) }
            throw .greetingTwice
        }
    }

    /// Sends what the socket takes.
    private mutating func flush() throws(End) {
        guard !isBlocked else { return }
        do throws(SystemError) {
            while !output.frames.isEmpty {
                let sent = try output.frames.withNextStretch { (bytes, descriptors) throws(SystemError) in
                    try ControlSocket.send(control, bytes, descriptors: descriptors)
                }
                guard let sent else {
                    isBlocked = true
                    break
                }
                for descriptor in output.frames.sent(sent) { _ = Glibc.close(descriptor) }
            }
        } catch {
            // The coordinator is gone.
            throw End(status: error.errno == EPIPE ? Worker.Status.finished : Worker.Status.internalError)
        }
        loop.relieve()
    }

    private mutating func closeLeftovers() {
        for descriptor in incoming.removeDescriptors() { _ = Glibc.close(descriptor) }
        for descriptor in output.frames.removeAll() { _ = Glibc.close(descriptor) }
    }
}
