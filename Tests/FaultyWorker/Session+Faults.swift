import Glibc
import TrawlHTTP
import TrawlPlatform
import TrawlProtocol

extension Session {
    /// Misbehaves before or in the greeting.
    func atStart(_ ready: inout Ready) {
        switch options.fault {
        case .print:
            line.send(Array("hello, world\n".utf8))
            exit(0)
        case .earlyFrame: line.send(maker.message(lease: 1))
        case .version: ready.version += 1
        case .build: ready.build += "-other"
        case .layout: ready.segmentLayout += 1
        case .twoGreetings: line.send(.ready(ready))
        case .descriptors: tally(openDescriptors())
        default: break
        }
    }

    /// Misbehaves at a lease.
    func misbehave(_ job: Job) {
        let lease = job.lease
        switch options.fault {
        case .none, .stay: answer(job)
        case .exitAtStart, .silent, .print, .earlyFrame, .version, .build, .layout, .twoGreetings, .descriptors: break
        case .crash:
            // Without a handler of the runtime's own that would print a report.
            signal(Int32(options.value), SIG_DFL)
            raise(Int32(options.value))
        case .exit: exit(Int32(options.value))
        case .halfFrame:
            let frame = inlineEnd(lease).frame
            line.send(Array(frame[..<(frame.count / 2)]))
            exit(Int32(options.value))
        case .garbageThenExit:
            line.send([UInt8](repeating: 0xFF, count: 64))
            exit(0)
        case .garbage: line.send([0xFF, 0xFF] + maker.bytes(65_000...66_000))
        case .randomFrame: line.send(undecodable { $0.random() })
        case .mutatedFrame:
            let frame = inlineEnd(lease).frame
            line.send(undecodable { $0.mutated(frame) })
        case .strayDescriptors:
            let frame = WorkerMessage.interim(lease: lease.id, interim).frame
            let spare = [memoryFile([1]), memoryFile([2])]
            line.send(frame, descriptors: spare)
        case .twoHeads:
            line.send(.head(lease: lease.id, head, asks: []))
            line.send(.head(lease: lease.id, head, asks: []))
            line.send(inlineEnd(lease))
        case .twoForwards:
            for _ in 0..<2 { line.send(.forwards(lease: lease.id, FieldLines())) }
            answer(job)
        case .lateForwards:
            line.send(.head(lease: lease.id, head, asks: []))
            line.send(.forwards(lease: lease.id, FieldLines()))
            answer(job)
        case .givenUp:
            line.send(
                .ended(LeaseEnd(lease: lease.id, outcome: .givenUp(requestSent: false, kept: 0, isPassed: false))))
        // At the order.
        case .shortPart, .immensePart: break
        case .unwantedClosed:
            line.send(.closed(connection: 1))
            answer(job)
        case .unmeteredWish:
            line.send(.wants(lease: lease.id, MemoryWish(holding: 70_000, total: 80_000, isWhole: true)))
            answer(job)
        case .connectionsFlood:
            for _ in 0..<options.value { line.send(.connections(origin: .max, open: 1)) }
            answer(job)
        case .interimFlood:
            for _ in 0..<1000 { line.send(.interim(lease: lease.id, interim)) }
            answer(job)
        case .interimBulk:
            var bulky = interim
            try? bulky.fields.append("Link", String(repeating: "x", count: 30_000))
            for _ in 0..<5 { line.send(.interim(lease: lease.id, bulky)) }
            answer(job)
        case .descriptorLength:
            guard case .descriptor = lease.sink else { return answer(job) }
            if let descriptor = job.descriptors.last { _ = Glibc.write(descriptor, "half", 4) }
            line.send(ended(lease, .descriptor(length: UInt64(options.value))))
        case .dataWithoutCredit:
            for _ in 0..<5 {
                line.send(.data(lease: lease.id, [UInt8](repeating: 7, count: WireProtocol.maximumInlineBody)))
            }
            answer(job)
        case .streamLength:
            line.send(.data(lease: lease.id, [1, 2, 3]))
            line.send(ended(lease, .streamed(length: 4)))
        case .noHead: line.send(.ended(LeaseEnd(lease: lease.id, outcome: .complete(.inline([1, 2, 3])))))
        case .undecidedCertificate:
            var failure = HopFailure(.tlsUndecided)
            failure.certificates = [[1, 2, 3]]
            line.send(.ended(LeaseEnd(lease: lease.id, outcome: .failed(failure))))
        case .memoryUnsealed, .memorySize, .memoryHuge, .memoryOnDisk, .memoryPipe, .memoryMissing, .memorySurplus:
            sendWrongMemory(lease)
        case .discardedLength:
            if lease.heads != .withEnd { line.send(.head(lease: lease.id, head, asks: [])) }
            line.send(ended(lease, .discarded(length: 1 << 63)))
        case .uninvitedFile: line.send(ended(lease, .file(length: 10)))
        case .uninvitedName: line.send(ended(lease, .file(length: 10, name: "another")))
        case .uninvitedDescriptor: line.send(ended(lease, .descriptor(length: 10)))
        case .twoEnds:
            answer(job)
            line.send(ended(lease, .inline(Array("the second".utf8))))
        case .foreignLeases:
            for _ in 0..<options.value { line.send(maker.message(lease: foreignLease())) }
            answer(job)
        case .otherWorkers:
            for worker in 0..<4 as Range<UInt64> where worker != UInt64(hello.slot) {
                let id = lease.id & ~(0x3FF << 12) | worker << 12
                line.send(.ended(LeaseEnd(lease: id, outcome: .failed(HopFailure(.internalError)), head: head)))
            }
            answer(job)
        case .scribble:
            scribble(over: lease)
            if options.value > 0 { exit(Int32(options.value)) }
            answer(job)
        case .never: break
        case .fileCall:
            for _ in 0..<(options.value / 50) {
                usleep(50_000)
                beatForFile()
            }
            answer(job)
        case .freeze: raise(SIGSTOP)
        case .closeSocket:
            line.close()
            while true {
                usleep(50_000)
                beat()
            }
        case .endless:
            let frame = (0..<200).flatMap { _ in maker.message(lease: foreignLease()).frame }
            while true {
                line.send(frame)
                beat()
            }
        case .campaign:
            answer(job)
            campaign(after: lease.id)
        }
    }

    /// Misbehaves at what becomes of a lease.
    func misbehave(at order: TransferOrder, of lease: UInt64) {
        guard order != .goOn else { return }
        func end(kept: UInt64, isPassed: Bool) -> WorkerMessage {
            .ended(
                LeaseEnd(
                    lease: lease, outcome: .givenUp(requestSent: true, kept: kept, isPassed: isPassed), head: head))
        }
        switch options.fault {
        case .shortPart:
            let part = memoryFile([1, 2, 3])
            line.send(end(kept: 10, isPassed: true), descriptors: [part])
            close(part)
        case .immensePart: line.send(end(kept: .max, isPassed: false))
        default: break
        }
    }

    /// Writes anything into the buckets, workers' lines and progress lines of all, and what is most into those of the lease.
    private func scribble(over lease: Lease) {
        var info = stat()
        fstat(WorkerProcess.segmentNumber, &info)
        let size = Int(info.st_size)
        let mapped = mmap(nil, size, PROT_READ | PROT_WRITE, MAP_SHARED, WorkerProcess.segmentNumber, 0)
        guard let mapped, mapped != MAP_FAILED, let segment else { die("no shared segment") }
        for offset in stride(from: 64, to: size, by: 8) {
            mapped.storeBytes(of: maker.word(), toByteOffset: offset, as: UInt64.self)
        }
        munmap(mapped, size)
        let progress = segment.progress(worker: Int(hello.slot), transfer: Int(lease.progressIndex))
        progress.begin(lease: lease.id)
        progress.set(received: .max)
        progress.set(sent: .max)
        progress.set(expected: .max - 1)
        progress.set(decoded: .max)
        progress.reservation = .max
    }

    private func ended(_ lease: Lease, _ delivery: BodyDelivery) -> WorkerMessage {
        .ended(LeaseEnd(lease: lease.id, outcome: .complete(delivery), head: lease.heads == .withEnd ? head : nil))
    }

    private func inlineEnd(_ lease: Lease) -> WorkerMessage { ended(lease, .inline(body(of: lease))) }

    private var interim: ResponseHead {
        ResponseHead(status: 103, version: .http1_1, reason: "Early Hints", fields: FieldLines())
    }

    private func sendWrongMemory(_ lease: Lease) {
        let bytes = [UInt8](repeating: 9, count: 100_000)
        let message = ended(lease, .memory(length: 100_000))
        switch options.fault {
        case .memoryUnsealed: line.send(message, descriptors: [memoryFile(bytes, isSealed: false)])
        case .memorySize: line.send(message, descriptors: [memoryFile(bytes + [1])])
        case .memoryHuge:
            // Sparse, so that it costs nothing.
            let count = 3 << 30
            let file = memoryFile([], isSealed: false)
            _ = ftruncate(file, count)
            _ = fcntl(file, addSeals, 0xF)
            line.send(ended(lease, .memory(length: UInt64(count))), descriptors: [file])
        case .memoryOnDisk:
            var name = Array("/tmp/faulty-worker-XXXXXX".utf8CString)
            let file = mkstemp(&name)
            unlink(name)
            _ = write(file, bytes, bytes.count)
            line.send(message, descriptors: [file])
        case .memoryPipe:
            var ends: [Int32] = [0, 0]
            _ = pipe(&ends)
            line.send(message, descriptors: [ends[0]])
        case .memoryMissing: line.send(message.frame)
        default: line.send(message.frame, descriptors: [memoryFile(bytes), memoryFile(bytes)])
        }
    }

    /// F_ADD_SEALS, which the C library's module does not show.
    private var addSeals: Int32 { 1033 }

    /// An id that names no lease of this worker.
    private func foreignLease() -> UInt64 {
        var id = maker.lease()
        if UInt32(truncatingIfNeeded: id >> 12) & 0x3FF == hello.slot { id ^= 1 << 12 }
        return id
    }

    /// The first of the frames made by `make` that breaks the protocol.
    private func undecodable(_ make: (inout FrameMaker) -> [UInt8]) -> [UInt8] {
        while true {
            let frame = make(&maker)
            if case .error = Reading(frame) { return frame }
        }
    }

    /// Sends frames that decode but say nothing new, then one that does not.
    ///
    /// They speak of the lease that has just ended or of leases of others, so that whatever they say must be ignored.
    private func campaign(after lease: UInt64) {
        var count = 0
        var batch: [UInt8] = []
        while count < options.value {
            let about = count % 4 == 0 ? lease : foreignLease()
            let message = count % 8 == 7 ? maker.connectionMessage() : maker.message(lease: about)
            let frame = maker.mutated(message.frame)
            guard case .message(let read) = Reading(frame), saysNothing(read, after: lease) else { continue }
            batch += frame
            count += 1
            if batch.count > 32_000 {
                line.send(batch)
                batch = []
                beat()
            }
        }
        line.send(batch)
        // What came meanwhile is answered, so that few are suspects.
        while case .message(let message, let descriptors) = line.next(within: 0) {
            if case .lease(let lease) = message { answer(Job(lease: lease, descriptors: descriptors)) }
        }
        tally("\(count + 1)\n")
        let last = maker.message(lease: lease).frame
        line.send(undecodable { $0.lease() % 4 == 0 ? $0.random() : $0.mutated(last) })
        // The coordinator ends this process.
        while true { pause() }
    }

    /// Whether a coordinator has to ignore it once the lease has ended.
    private func saysNothing(_ message: WorkerMessage, after lease: UInt64) -> Bool {
        guard message.descriptorCount == 0 else { return false }
        switch message {
        case .ready: return false
        // Fewer than there are count for nothing here, and more than there are not at all.
        case .connections: return true
        case .closed: return hello.followsConnections
        case .interim, .head, .data, .ended, .unshared, .wants, .forwards:
            guard let named = message.lease else { return false }
            return named == lease || UInt32(truncatingIfNeeded: named >> 12) & 0x3FF != hello.slot
        }
    }

    private func tally(_ text: String) {
        guard let path = options.tally else { return }
        let file = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o600)
        let bytes = Array(text.utf8)
        _ = write(file, bytes, bytes.count)
        close(file)
    }

    /// One line for each open descriptor: its number and what it is.
    private func openDescriptors() -> String {
        var text = ""
        for number in 0..<1024 as Range<Int32> where fcntl(number, F_GETFD) >= 0 {
            var target = [CChar](repeating: 0, count: 4096)
            let count = max(0, readlink("/proc/self/fd/\(number)", &target, target.count))
            text += "\(number) \(String(decoding: target[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self))\n"
        }
        return text
    }
}
