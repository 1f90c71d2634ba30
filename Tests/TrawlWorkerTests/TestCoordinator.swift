import Glibc
import Testing
import TrawlHTTP
import TrawlPlatform
import TrawlProtocol
import TrawlWorker

/// What one lease brought.
struct Exchange {
    /// What it wanted memory for, and the room it has by now.
    var wishes: [MemoryWish] = []
    var room = WireProtocol.maximumInlineBody

    var interim: [ResponseHead] = []
    /// From a `head` frame.
    var earlyHead: ResponseHead?
    var streamed: [UInt8] = []
    var end = LeaseEnd(lease: 0, outcome: .failed(HopFailure(.internalError, detail: "no end")))
    /// The body, wherever it was.
    var body: [UInt8] = []
    /// Whether the memory file was sealed.
    var wasSealed = false

    var head: ResponseHead? { earlyHead ?? end.head }

    var failure: HopFailure? {
        if case .failed(let failure) = end.outcome { return failure }
        return nil
    }
}

extension Exchange {
    /// Waits until the origin has sent something that nobody asked for on the connection of this one, be it its end.
    func awaitUnasked() throws {
        let found = head?.fields.first("X-Connection")
        let number = try #require(found)
        // Another worker asks: the connections of the first stay as they are.
        let asking = try TestCoordinator()
        for _ in 0..<3000 {
            let answer = try asking.fetch("/quiet/\(number)").body
            // What was sent is there a moment later.
            usleep(20_000)
            if answer == Array("0\n".utf8) { return }
        }
        Issue.record("nothing came on connection \(number)")
    }
}

extension WorkerRoot {
    /// The directory that is at a path.
    init(existing path: String) throws {
        let identity = try HeldDirectory(path: path).identity
        self.init(path: path, device: identity.device, inode: identity.inode)
    }
}

/// A worker on a thread of this process, and the other end of its control socket.
final class TestCoordinator {
    /// What the worker's loop returned.
    ///
    /// `@unchecked Sendable` holds because it is written by the thread before it ends, and read after it was joined.
    private final class Status: @unchecked Sendable {
        var value: Int32 = -1
    }

    let socket: Int32
    let segment: SharedSegment
    private let thread: NamedThread
    private let status = Status()
    private var outgoing = OutgoingFrames()
    private var incoming = IncomingFrames()
    private var isOpen = true
    private var lastLease: UInt64 = 0
    private(set) var isAtEnd = false
    private(set) var ready: Ready?

    /// Starts a worker; with `hello` nil nothing is said to it.
    init(
        leases: Int = 16, roots: [String] = [], profile: TransferProfile = TransferProfile(), greets: Bool = true,
        hello: Hello? = nil, longestWait: Int32 = 250
    ) throws {
        segment = try SharedSegment.create(workers: 1, transfersPerWorker: 16)
        let pair = try ControlSocket.pair()
        socket = try pair.here.duplicated(atLeast: 3).release()
        let control = try pair.there.duplicated(atLeast: 3).release()
        let memory = try segment.descriptor.duplicated(atLeast: 3).release()
        let status = status
        thread = try NamedThread.start(name: "test-worker") {
            status.value = Worker.run(
                control: control, segment: memory, isOwnProcess: false, longestWait: longestWait)
        }
        guard greets else { return }
        let places = try roots.map { try WorkerRoot(existing: $0) }
        send(
            .hello(
                hello
                    ?? Hello(
                        build: BuildIdentity.text, segmentLayout: SharedSegment.layoutVersion, slot: 0, generation: 1,
                        leases: UInt32(leases), roots: places)))
        if hello == nil {
            send(.profile(number: 1, profile))
            if case .ready(let ready)? = try next()?.0 { self.ready = ready }
        }
    }

    deinit {
        hangUp()
        thread.join()
    }

    /// Closes the control socket.
    func hangUp() {
        if isOpen { close(socket) }
        isOpen = false
    }

    /// Waits for the worker's end.
    func exitStatus() -> Int32 {
        thread.join()
        return status.value
    }

    /// Sends a message; the descriptors are closed here.
    func send(_ message: CoordinatorMessage, descriptors: [Int32] = []) {
        let wasAdded = outgoing.append(message, descriptors: descriptors)
        #expect(wasAdded)
        var isGone = false
        while !outgoing.isEmpty {
            let sent = outgoing.withNextStretch { bytes, descriptors -> Int? in
                do {
                    return try ControlSocket.send(socket, bytes, descriptors: descriptors)
                } catch {
                    isGone = true
                    return nil
                }
            }
            guard let sent else {
                guard isOpen, !isGone, wait(POLLOUT, seconds: 60) else { return }
                continue
            }
            for descriptor in outgoing.sent(sent) { close(descriptor) }
        }
    }

    /// Sends bytes that are no frame.
    func sendRaw(_ bytes: [UInt8]) {
        _ = bytes.withUnsafeBytes { try? ControlSocket.send(socket, $0) }
    }

    /// The next message of the worker; nil at the end of its stream.
    func next() throws -> (WorkerMessage, [Int32])? {
        while true {
            if let found = try incoming.next(WorkerMessage.read) { return (found.message, found.descriptors) }
            if isAtEnd { return nil }
            try #require(wait(POLLIN, seconds: 60), "the worker says nothing")
            var descriptors: [Int32] = []
            _ = try incoming.fill { room in
                switch try ControlSocket.receive(socket, into: room, descriptors: &descriptors) {
                case .bytes(let count): return count
                case .wouldBlock: return 0
                case .endOfStream:
                    isAtEnd = true
                    return 0
                }
            }
            incoming.add(descriptors)
        }
    }

    /// Whether a message is there or comes within the time.
    func hasMessage(milliseconds: Int32) -> Bool {
        if incoming.count > 0 { return true }
        var watched = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
        return poll(&watched, 1, milliseconds) > 0
    }

    /// A lease of a target of the origin.
    func lease(_ target: String, _ method: HTTPMethod = .get, _ adjust: (inout Lease) -> Void = { _ in }) throws
        -> Lease
    {
        lastLease += 1
        var fields = FieldLines()
        try fields.append("User-Agent", "test")
        try fields.append("Accept", "*/*")
        let url = target.contains("://") ? target : try OriginProcess.shared.get().base + target
        var lease = Lease(
            id: lastLease, profile: 1, progressIndex: UInt16(lastLease % 16), method: method, url: url, fields: fields)
        adjust(&lease)
        return lease
    }

    /// Carries out one lease and collects what it brings.
    func fetch(
        _ target: String, _ method: HTTPMethod = .get, descriptors: [Int32] = [],
        _ adjust: (inout Lease) -> Void = { _ in }
    ) throws -> Exchange {
        let lease = try lease(target, method, adjust)
        send(.lease(lease), descriptors: descriptors)
        return try collect(lease.id)
    }

    /// What a lease brings from now on, to its end. Credit is given for everything that comes.
    func collect(_ lease: UInt64) throws -> Exchange {
        var exchange = Exchange()
        while let (message, descriptors) = try next() {
            defer { for descriptor in descriptors { close(descriptor) } }
            switch message {
            case .interim(lease, let head):
                exchange.interim.append(head)
            case .head(lease, let head, _, _):
                exchange.earlyHead = head
            case .data(lease, let bytes):
                exchange.streamed += bytes
                send(.credit(lease: lease, bytes: UInt32(bytes.count)))
            case .wants(lease, let wish):
                exchange.wishes.append(wish)
                send(.credit(lease: lease, bytes: UInt32(Int(wish.total) - exchange.room)))
                exchange.room = Int(wish.total)
            case .ended(let end) where end.lease == lease:
                exchange.end = end
                switch end.outcome {
                case .complete(.inline(let bytes)): exchange.body = bytes
                case .complete(.memory(let length)):
                    exchange.wasSealed = MemoryFile.isFullySealed(descriptors[0])
                    exchange.body = [UInt8](repeating: 0, count: Int(length))
                    #expect(pread(descriptors[0], &exchange.body, exchange.body.count, 0) == Int(length))
                case .complete(.unnamed(let length, _)):
                    exchange.body = [UInt8](repeating: 0, count: Int(length))
                    #expect(pread(descriptors[0], &exchange.body, exchange.body.count, 0) == Int(length))
                case .complete(.streamed): exchange.body = exchange.streamed
                case .complete, .failed, .givenUp: break
                }
                return exchange
            case .ready, .interim, .head, .data, .ended, .unshared, .connections, .wants, .closed, .forwards:
                break
            }
        }
        return exchange
    }

    private func wait(_ events: Int32, seconds: Int32) -> Bool {
        var watched = pollfd(fd: socket, events: Int16(events), revents: 0)
        return poll(&watched, 1, seconds * 1000) > 0
    }
}
