import Glibc
import TrawlHTTP
import TrawlPlatform
import TrawlProtocol

/// A lease and the descriptors it brought.
struct Job {
    let lease: Lease
    let descriptors: [Int32]

    func close() {
        for descriptor in descriptors { _ = Glibc.close(descriptor) }
    }
}

/// A worker's life: one thread, one loop.
final class Session {
    let options: Options
    var line = ControlLine()
    var maker: FrameMaker
    private(set) var segment: SharedSegment?
    private(set) var hello = Hello(build: "", segmentLayout: 0, slot: 0, generation: 0, leases: 0, roots: [])
    private var leasesSeen = 0
    private var held: [Job] = []
    /// Credits of the lease that is streamed now; only one at a time.
    private var endIsIgnored = false

    init(_ options: Options) {
        self.options = options
        maker = FrameMaker(seed: options.seed)
    }

    func run() -> Never {
        if options.fault == .exitAtStart { exit(Int32(options.value)) }
        if options.fault == .silent { while true { pause() } }
        if options.fault == .stay {
            signal(SIGTERM, SIG_IGN)
            endIsIgnored = true
        }
        segment = try? SharedSegment.attach(Descriptor(adopting: WorkerProcess.segmentNumber))
        while true {
            switch line.next(within: 100) {
            case .message(.hello(let hello), _): greet(hello)
            case .message(.lease(let lease), let descriptors): take(Job(lease: lease, descriptors: descriptors))
            case .message(.cancel(let lease), _): cancel(lease)
            case .message(.drain, _): exit(0)
            case .message(.release(let origin, _), _): line.send(.connections(origin: origin, open: 0))
            case .message(.order(let lease, let order), _): if isFaultTime { misbehave(at: order, of: lease) }
            case .message(.profile, _), .message(.credit, _), .message(.answer, _), .nothing: break
            case .end:
                if !endIsIgnored { exit(0) }
                usleep(50_000)
            }
            beat()
        }
    }

    func beat() {
        if let segment, Int(hello.slot) < segment.workers { segment.worker(Int(hello.slot)).beat() }
    }

    /// As the watch of a worker does that waits for a file.
    func beatForFile() {
        if let segment, Int(hello.slot) < segment.workers { segment.worker(Int(hello.slot)).beatForFile() }
    }

    private func greet(_ hello: Hello) {
        self.hello = hello
        maker = FrameMaker(seed: options.seed &* 1_000_003 &+ UInt64(hello.slot) << 32 &+ UInt64(hello.generation))
        var ready = Ready(
            build: BuildIdentity.text, segmentLayout: SharedSegment.layoutVersion, processID: UInt32(getpid()))
        if isFaultTime, options.fault.isAtStart { atStart(&ready) }
        line.send(.ready(ready))
    }

    /// Whether this process is one that misbehaves.
    private var isFaultTime: Bool {
        hello.generation <= options.lastGeneration && options.slots?.contains(hello.slot) ?? true
    }

    private func take(_ job: Job) {
        leasesSeen += 1
        if let segment {
            let progress = segment.progress(worker: Int(hello.slot), transfer: Int(job.lease.progressIndex))
            progress.begin(lease: job.lease.id)
            if options.marksSent { progress.markRequestMayHaveBeenSent() }
        }
        let matches = options.pattern.isEmpty || job.lease.url.contains(options.pattern)
        if isFaultTime, !options.fault.isAtStart, leasesSeen > options.after, matches {
            misbehave(job)
        } else if options.holds, hello.generation == 1 {
            held.append(job)
        } else {
            answer(job)
        }
    }

    private func cancel(_ lease: UInt64) {
        guard let position = held.firstIndex(where: { $0.lease.id == lease }) else { return }
        held.remove(at: position).close()
        line.send(.ended(LeaseEnd(lease: lease, outcome: .failed(HopFailure(.cancelled)))))
    }

    // MARK: Proper answers

    /// The head of a proper answer; says which process made it.
    var head: ResponseHead {
        var fields = FieldLines()
        try? fields.append("Content-Type", "text/plain")
        try? fields.append("X-Worker", "\(hello.slot).\(hello.generation)")
        return ResponseHead(status: 200, version: .http1_1, reason: "OK", fields: fields)
    }

    /// The body of a proper answer: the URL, or as many bytes as a path of `/memory/N` asks for.
    func body(of lease: Lease) -> [UInt8] {
        if let range = lease.url.lastIndex(of: "/"), lease.url.contains("/memory/"),
            let count = Int(lease.url[lease.url.index(after: range)...])
        {
            return [UInt8](repeating: UInt8(ascii: "m"), count: count)
        }
        return Array(lease.url.utf8)
    }

    /// Answers a lease as a good worker would.
    func answer(_ job: Job) {
        defer { job.close() }
        let lease = job.lease
        let body = body(of: lease)
        if lease.heads != .withEnd { line.send(.head(lease: lease.id, head, asks: [])) }
        let delivery: BodyDelivery
        var descriptors: [Int32] = []
        switch lease.sink {
        case .discard: delivery = .discarded(length: UInt64(body.count))
        case .memory:
            if body.count <= WireProtocol.maximumInlineBody {
                delivery = .inline(body)
            } else {
                descriptors = [memoryFile(body)]
                delivery = .memory(length: UInt64(body.count))
            }
        case .file(let root, let path, let collision):
            write(body, to: path, beneath: hello.roots[Int(root)].path, replaces: collision == .replace)
            delivery = .file(length: UInt64(body.count))
        case .descriptor:
            if let descriptor = job.descriptors.last { _ = Glibc.write(descriptor, body, body.count) }
            delivery = .descriptor(length: UInt64(body.count))
        case .stream:
            for start in stride(from: 0, to: body.count, by: 16) {
                line.send(.data(lease: lease.id, Array(body[start..<min(start + 16, body.count)])))
            }
            delivery = .streamed(length: UInt64(body.count))
        }
        let end = LeaseEnd(
            lease: lease.id, outcome: .complete(delivery), head: lease.heads == .withEnd ? head : nil)
        line.send(.ended(end), descriptors: descriptors)
        for descriptor in descriptors { close(descriptor) }
    }

    /// A memory file with these bytes; the caller closes it.
    func memoryFile(_ bytes: [UInt8], isSealed: Bool = true) -> Int32 {
        guard let file = try? MemoryFile(name: "faulty") else { die("no memory file") }
        do {
            try bytes.withUnsafeBytes { try file.write($0) }
            if isSealed { try file.seal() }
            return try file.descriptor.duplicated(atLeast: 5).release()
        } catch {
            die("\(error)")
        }
    }

    private func write(_ bytes: [UInt8], to path: String, beneath root: String, replaces: Bool) {
        do {
            let part = try OutputRoot(path: root).createPart(for: path)
            try bytes.withUnsafeBytes { try part.write($0) }
            try part.publish(replacing: replaces, sync: false)
        } catch {
            die("\(path): \(error)")
        }
    }
}
