import Glibc
import TrawlHTTP
import TrawlPlatform
import TrawlProtocol

/// The coordinator's end of one worker generation: its socket, its process or thread, and what is on the way.
///
/// Bound to the supervisor thread.
final class WorkerLink {
    /// What runs at the other end.
    enum Engine {
        case process(WorkerProcess)
        /// In-process mode.
        case thread(NamedThread)
    }

    let slot: Int
    let generation: UInt32
    let engine: Engine
    private let socket: Descriptor
    /// The frames of either way. One thread's, and never lent while they are used otherwise: without the checks of
    /// exclusive access, which are made at each use of an object's property.
    @exclusivity(unchecked)
    private var incoming = IncomingFrames()
    @exclusivity(unchecked)
    private var outgoing = OutgoingFrames()
    private var toldProfiles: [UInt32: UInt32] = [:]
    private var lastTold: ProfileTable.Assignment?
    private var wantsWrite = false
    /// Whether the stream still works.
    private(set) var isOpen = true
    /// Whether the worker takes what is sent; what it says is read on all the same.
    private(set) var canSend = true
    /// Whether the worker's greeting was accepted.
    var isGreeted = false
    /// Whether the worker broke the protocol and was refused.
    var isRefused = false
    /// Whether the worker was ended because this process could not take what it sent.
    var isUnheard = false
    /// Frames of leases it does not hold, less its proper ends.
    var strayFrames = 0
    /// Since when the worker cannot be talked to, although it was not told to go.
    var lostAt: MonotonicInstant?
    /// The last count of its beats that say that it waits for a file, and when that changed last.
    private var fileBeats: UInt64 = 0
    private(set) var waitedForFileAt: MonotonicInstant?
    /// The kernel's count of out-of-memory kills in this worker's first moments; nil before the first look.
    var memoryKillsAtStart: UInt64?

    init(slot: Int, generation: UInt32, engine: Engine, socket: consuming Descriptor) {
        self.slot = slot
        self.generation = generation
        self.engine = engine
        self.socket = socket
    }

    var rawSocket: Int32 { socket.rawValue }

    /// Why a lease cannot be sent.
    enum SendError: Error, Equatable {
        /// It is longer than a frame may be.
        case tooLong
        /// A descriptor cannot be duplicated.
        case system(SystemError)
    }

    /// Takes note of whether the worker waits for a file.
    func look(fileBeats: UInt64, at now: MonotonicInstant) {
        guard fileBeats != self.fileBeats else { return }
        self.fileBeats = fileBeats
        waitedForFileAt = now
    }

    /// Queues a message that brings no descriptor.
    /// - Returns: False when it is too long for a frame.
    func send(_ message: CoordinatorMessage) -> Bool {
        guard isOpen, canSend else { return true }
        return outgoing.append(message)
    }

    /// Queues a lease. Descriptors are duplicated, so the caller keeps its own.
    func send(_ lease: Lease, descriptors: [Int32]) throws(SendError) {
        guard isOpen, canSend else { return }
        var copies: [Int32] = []
        var isQueued = false
        defer { if !isQueued { for copy in copies { close(copy) } } }
        for descriptor in descriptors {
            let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 3)
            guard copy >= 0 else { throw .system(SystemError(errno: errno, call: "fcntl")) }
            copies.append(copy)
        }
        isQueued = outgoing.appendLease(lease, descriptors: copies)
        if !isQueued { throw .tooLong }
    }

    /// Tells the worker what a profile number means, unless it knows.
    func tell(_ assignment: ProfileTable.Assignment, _ terms: FetchTerms) -> Bool {
        if lastTold == assignment { return true }
        if toldProfiles[assignment.number] != assignment.version {
            guard send(.profile(number: assignment.number, terms.profile)) else { return false }
            toldProfiles[assignment.number] = assignment.version
        }
        lastTold = assignment
        return true
    }

    /// Sends what the socket takes.
    func flush(_ poller: Poller, token: UInt64) {
        while isOpen, !outgoing.isEmpty {
            let sent: Result<Int?, SystemError> = outgoing.withNextStretch { bytes, descriptors in
                do throws(SystemError) {
                    return .success(try ControlSocket.send(socket.rawValue, bytes, descriptors: descriptors))
                } catch {
                    return .failure(error)
                }
            }
            guard case .success(let count) = sent else {
                // Nobody reads any more; what was said before is still to be read.
                canSend = false
                for descriptor in outgoing.removeAll() { close(descriptor) }
                break
            }
            guard let count else { break }
            for descriptor in outgoing.sent(count) { close(descriptor) }
        }
        let wants = isOpen && !outgoing.isEmpty
        if wants != wantsWrite {
            wantsWrite = wants
            try? poller.modify(socket.rawValue, token: token, interest: wants ? [.read, .write] : .read)
        }
    }

    /// What a turn of reading met.
    enum ReadEnd: Equatable {
        case drained
        case endOfStream
        case garbage(FrameError)
        /// This process could not take what was sent, which is lost with all that follows.
        case shortage
    }

    /// Reads what there is and hands it over. One that never stops talking gets no more than its turn.
    ///
    /// - Parameters:
    ///   - exhaustively: Whether to go on until nothing is left: the worker has ended.
    ///   - ended: Takes the end of a lease; returns false to stop: the worker broke the rules and is being ended.
    ///   - said: Takes whatever else there is, and returns the same.
    func read(
        exhaustively: Bool, ended: (LeaseEnd, [Int32]) -> Bool, said: (WorkerMessage, [Int32]) -> Bool
    ) -> ReadEnd {
        for _ in 0..<(exhaustively ? 1024 : 16) {
            guard isOpen else { return .endOfStream }
            var descriptors: [Int32] = []
            var end: ReadEnd?
            let count = incoming.fill { buffer in
                do throws(SystemError) {
                    switch try ControlSocket.receive(socket.rawValue, into: buffer, descriptors: &descriptors) {
                    case .bytes(let count):
                        if count < buffer.count && !exhaustively { end = .drained }
                        return count
                    case .wouldBlock: end = .drained
                    case .endOfStream: end = .endOfStream
                    }
                } catch {
                    end = error.errno == EMSGSIZE ? .garbage(.descriptorCount) : .shortage
                }
                return 0
            }
            incoming.add(descriptors)
            if count > 0 {
                do throws(FrameError) {
                    while let frame = try incoming.nextFrame() {
                        let goesOn: Bool
                        if frame.isEnd {
                            let leaseEnd = try incoming.end(of: frame)
                            goesOn = ended(leaseEnd, incoming.takeDescriptors(of: frame))
                        } else {
                            let message = try incoming.workerMessage(of: frame)
                            goesOn = said(message, incoming.takeDescriptors(of: frame))
                        }
                        if !goesOn { return .drained }
                    }
                } catch {
                    return .garbage(error)
                }
            }
            if let end { return end }
        }
        return .drained
    }

    /// Gives the stream up; the worker sees its end.
    func closeStream(_ poller: Poller) {
        guard isOpen else { return }
        isOpen = false
        try? poller.remove(socket.rawValue)
        shutdown(socket.rawValue, Int32(SHUT_RDWR))
        for descriptor in outgoing.removeAll() { close(descriptor) }
        for descriptor in incoming.removeDescriptors() { close(descriptor) }
    }
}
