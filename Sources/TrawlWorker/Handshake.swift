import Glibc
import TrawlPlatform
import TrawlProtocol
import TrawlTransfer

/// The first exchange of a worker: the greeting, and everything that has to fit.
struct Handshake {
    let control: Int32
    /// What came after the greeting is in here already.
    private(set) var incoming = IncomingFrames()
    let output = TransferOutput()

    init(control: Int32) {
        self.control = control
    }

    /// How a handshake that failed ends the worker.
    struct Refusal: Error {
        let status: Int32

        init(status: Int32) {
            self.status = status
        }

        /// What keeps a worker from what it needs for good makes it one that cannot work here; anything else may have
        /// passed when the next one tries: no descriptor or memory is left, a server does not answer.
        init(_ error: SystemError) {
            switch error.errno {
            case ENOENT, ENOTDIR, EACCES, ELOOP, ESTALE: status = Worker.Status.cannotWork
            default: status = Worker.Status.internalError
            }
        }
    }

    enum Outcome {
        case success(TransferLoop)
        case failure(Int32)
    }

    /// Waits for the greeting and answers it.
    mutating func run(segment: borrowing Descriptor) -> Outcome {
        do throws(Refusal) {
            guard let hello = try greeting() else { return .failure(Worker.Status.finished) }
            let ready = Ready(
                build: BuildIdentity.text, segmentLayout: SharedSegment.layoutVersion,
                processID: UInt32(bitPattern: getpid()))
            _ = output.frames.append(.ready(ready))
            // The answer goes out even when nothing fits, so that the coordinator can say what does not.
            guard hello.version == WireProtocol.version, hello.build == BuildIdentity.text,
                hello.segmentLayout == SharedSegment.layoutVersion
            else {
                sendAnswer()
                return .failure(Worker.Status.cannotWork)
            }
            return .success(try loop(for: hello, segment))
        } catch {
            return .failure(error.status)
        }
    }

    private func loop(for hello: Hello, _ segment: borrowing Descriptor) throws(Refusal) -> TransferLoop {
        let attached: SharedSegment
        do {
            let copy = try segment.duplicated(atLeast: 3)
            attached = try SharedSegment.attach(copy)
        } catch let error as SystemError {
            throw refusal("the shared segment", error)
        } catch SharedSegmentError.system(let error) {
            throw refusal("the shared segment", error)
        } catch {
            throw Refusal(status: Worker.Status.cannotWork)
        }
        guard hello.leases > 0, Int(hello.leases) <= attached.transfersPerWorker, Int(hello.slot) < attached.workers
        else { throw Refusal(status: Worker.Status.cannotWork) }
        let commits = CommitLog()
        guard
            let loop = TransferLoop(
                leases: Int(hello.leases), roots: try roots(of: hello), segment: attached, slot: Int(hello.slot),
                output: output, keeper: CacheKeeper(commits: commits), stateKeeper: CookieKeeper(commits: commits),
                tellsClosing: hello.followsConnections, tellsConnections: hello.countsConnections)
        else { throw refusal("libcurl", SystemError(errno: ENOMEM, call: "curl_multi_init")) }
        commits.onCommit(loop.wakeUp)
        return loop
    }

    private func roots(of hello: Hello) throws(Refusal) -> [OutputRoot] {
        var roots: [OutputRoot] = []
        for asked in hello.roots {
            do throws(SystemError) {
                let root = try OutputRoot(path: asked.path)
                // Another may be at the path by now than the one that the coordinator and other workers hold open.
                guard try root.identity() == FileIdentity(device: asked.device, inode: asked.inode) else {
                    throw SystemError(errno: ESTALE, call: "openat")
                }
                roots.append(root)
            } catch {
                throw refusal(asked.path, error)
            }
        }
        return roots
    }

    /// Says what kept the worker from what.
    private func refusal(_ what: String, _ error: SystemError) -> Refusal {
        Worker.complain("\(what): \(error)")
        return Refusal(error)
    }

    /// The first frame, or nil when the coordinator went away before it.
    private mutating func greeting() throws(Refusal) -> Hello? {
        while true {
            do throws(FrameError) {
                if let (message, descriptors) = try incoming.next(CoordinatorMessage.read) {
                    for descriptor in descriptors { _ = Glibc.close(descriptor) }
                    guard case .hello(let hello) = message else {
                        throw FrameError.invalid(.magic)
                    }
                    return hello
                }
            } catch {
                throw Refusal(status: Worker.Status.protocolViolation)
            }
            var watched = pollfd(fd: control, events: Int16(POLLIN), revents: 0)
            _ = poll(&watched, 1, -1)
            switch ControlReader.read(control, into: &incoming) {
            case .some: continue
            case .nothing: continue
            case .ended: return nil
            case .broken, .short: throw Refusal(status: Worker.Status.internalError)
            }
        }
    }

    private func sendAnswer() {
        _ = output.frames.withNextStretch { bytes, _ in try? ControlSocket.send(control, bytes) }
    }
}

/// Reads the control socket.
enum ControlReader {
    enum Outcome {
        case some, nothing, ended, broken
        /// What was sent could not be taken, for want of descriptors or memory in this process or its system.
        case short
    }

    /// One read of what is there.
    static func read(_ control: Int32, into incoming: inout IncomingFrames) -> Outcome {
        var descriptors: [Int32] = []
        var outcome = Outcome.nothing
        do throws(SystemError) {
            _ = try incoming.fill { (room) throws(SystemError) in
                switch try ControlSocket.receive(control, into: room, descriptors: &descriptors) {
                case .bytes(let count):
                    outcome = .some
                    return count
                case .wouldBlock:
                    return 0
                case .endOfStream:
                    outcome = .ended
                    return 0
                }
            }
        } catch {
            switch error.errno {
            case EMFILE, ENFILE, ENOMEM, ENOBUFS: outcome = .short
            default: outcome = .broken
            }
        }
        incoming.add(descriptors)
        return outcome
    }
}
