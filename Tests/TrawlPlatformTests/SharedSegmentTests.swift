import CTrawlPlatform
import Glibc
import Testing
import TrawlHTTP
import TrawlPlatform

@Suite("Shared segment")
struct SharedSegmentTests {
    private func attachError(_ descriptor: consuming Descriptor) -> SharedSegmentError? {
        do throws(SharedSegmentError) {
            _ = try SharedSegment.attach(descriptor)
            return nil
        } catch {
            return error
        }
    }

    @Test("where files may not be as long as it is, it is an error, and no signal ends the program")
    func fileSizeLimit() async {
        await #expect(processExitsWith: .exitCode(0)) {
            // A thread of a pool may block it.
            var only = sigset_t()
            sigemptyset(&only)
            sigaddset(&only, SIGXFSZ)
            pthread_sigmask(SIG_UNBLOCK, &only, nil)
            let resource = __rlimit_resource_t(RLIMIT_FSIZE.rawValue)
            var limit = rlimit()
            getrlimit(resource, &limit)
            let most = limit.rlim_cur
            limit.rlim_cur = 4096
            setrlimit(resource, &limit)
            var found: SharedSegmentError?
            do throws(SharedSegmentError) {
                _ = try SharedSegment.create(workers: 8, transfersPerWorker: 64)
            } catch {
                found = error
            }
            limit.rlim_cur = most
            setrlimit(resource, &limit)
            #expect(found == .system(SystemError(errno: EFBIG, call: "ftruncate")))
            var mask = sigset_t()
            pthread_sigmask(SIG_BLOCK, nil, &mask)
            #expect(sigismember(&mask, SIGXFSZ) == 0)
        }
    }

    @Test("what one mapping stores the other reads")
    func shared() throws {
        let ours = try SharedSegment.create(workers: 3, transfersPerWorker: 5)
        #expect(isCloseOnExec(ours.descriptor.rawValue))
        let theirs = try SharedSegment.attach(try ours.descriptor.duplicated(atLeast: 3))
        #expect(theirs.workers == 3)
        #expect(theirs.transfersPerWorker == 5)

        ours.worker(2).reset(generation: 9)
        theirs.worker(2).beat()
        for _ in 0..<2 { theirs.worker(2).beatForFile() }
        theirs.worker(2).countIn(100)
        theirs.worker(2).countOut(7)
        let line = ours.worker(2)
        #expect([line.generation, line.heartbeat, line.bytesIn, line.bytesOut] == [9, 1, 100, 7])
        #expect(line.fileBeats == 2)
        #expect(ours.worker(1).heartbeat == 0)
        line.reset(generation: 10)
        #expect([line.heartbeat, line.fileBeats, line.bytesIn, line.bytesOut] == [0, 0, 0, 0])
    }

    @Test("a progress line tells what a dead worker had done")
    func progress() throws {
        let segment = try SharedSegment.create(workers: 2, transfersPerWorker: 2)
        let line = segment.progress(worker: 1, transfer: 1)
        #expect(line.snapshot()?.lease == 0)
        line.begin(lease: 77)
        #expect(line.snapshot()?.requestMayHaveBeenSent == false)
        #expect(line.snapshot()?.expected == nil)
        line.markRequestMayHaveBeenSent()
        line.set(received: 10)
        line.set(sent: 20)
        line.set(expected: 30)
        let snapshot = try #require(line.snapshot())
        #expect(snapshot.requestMayHaveBeenSent)
        #expect(
            [snapshot.lease, snapshot.phase, snapshot.received, snapshot.sent, snapshot.expected] == [
                77, 1, 10, 20, 30,
            ])
        line.reservation = 5
        line.finish()
        #expect(line.reservation == 0)
        // Its end may not have been told yet.
        #expect(line.snapshot()?.lease == 77)
        #expect(line.snapshot()?.requestMayHaveBeenSent == true)
        #expect(line.snapshot()?.isOver == true)
        line.begin(lease: 78)
        #expect(line.snapshot()?.phase == 0)
        line.free()
        #expect(line.snapshot()?.lease == 0)
    }

    @Test("every line has its own memory")
    func disjoint() throws {
        let segment = try SharedSegment.create(workers: 3, transfersPerWorker: 4)
        let now = MonotonicInstant(nanoseconds: 1_000_000_000_000)
        for index in 0..<SharedSegment.bucketCount {
            segment.bucket(index).setLimit(bytesPerSecond: UInt64(index + 1), at: now)
        }
        for slot in 0..<3 {
            segment.worker(slot).reset(generation: UInt64(slot + 1))
            for index in 0..<4 {
                segment.progress(worker: slot, transfer: index).begin(lease: UInt64(slot * 4 + index + 1))
            }
        }
        for index in 0..<SharedSegment.bucketCount {
            #expect(segment.bucket(index).nanosecondsPerMiB == (1 << 20) * 1_000_000_000 / UInt64(index + 1))
        }
        for slot in 0..<3 {
            #expect(segment.worker(slot).generation == UInt64(slot + 1))
            for index in 0..<4 {
                #expect(
                    segment.progress(worker: slot, transfer: index).snapshot()?.lease == UInt64(slot * 4 + index + 1))
            }
        }
    }

    /// A wrong value in a header field, and what attaching says to it.
    struct Corruption: Sendable {
        let offset: Int
        let value: UInt64
        let width: Int
        let error: SharedSegmentError

        init(_ offset: Int, _ value: UInt64, _ width: Int, _ error: SharedSegmentError = .badGeometry) {
            self.offset = offset
            self.value = value
            self.width = width
            self.error = error
        }
    }

    static let corruptions: [Corruption] = [
        // Magic, total size.
        Corruption(0, 0, 8, .badMagic), Corruption(0, .max, 8, .badMagic), Corruption(8, 0, 8), Corruption(8, .max, 8),
        // Layout, header size, bucket count.
        Corruption(16, 0, 4, .wrongLayout(0)), Corruption(16, 1, 4, .wrongLayout(1)), Corruption(20, 128, 4),
        Corruption(24, 2049, 4),
        // Worker slots, transfers per worker.
        Corruption(28, 0, 4), Corruption(28, 3, 4), Corruption(28, 0xFFFF_FFFF, 4), Corruption(32, 0, 4),
        Corruption(32, 5, 4), Corruption(32, 0xFFFF_FFFF, 4),
        // Reserved bytes.
        Corruption(36, 1, 4), Corruption(60, 1, 4),
    ]

    @Test("a header with any wrong field is refused", arguments: corruptions)
    func corrupted(corruption: Corruption) throws {
        let segment = try SharedSegment.create(workers: 2, transfersPerWorker: 4)
        var value = corruption.value
        let written = pwrite(segment.descriptor.rawValue, &value, corruption.width, off_t(corruption.offset))
        #expect(written == corruption.width)
        #expect(attachError(try segment.descriptor.duplicated(atLeast: 3)) == corruption.error)
    }

    @Test("a file that could still be truncated, or is of another size, is refused")
    func file() throws {
        let segment = try SharedSegment.create(workers: 1, transfersPerWorker: 1)
        var header = [UInt8](repeating: 0, count: 64)
        #expect(pread(segment.descriptor.rawValue, &header, 64, 0) == 64)
        func copy(size: Int, seals: Int) throws -> Descriptor {
            let file = try MemoryFile(name: "test")
            try header.withUnsafeBytes { try file.write(UnsafeRawBufferPointer(rebasing: $0.prefix(size))) }
            #expect(ftruncate(file.descriptor.rawValue, off_t(size)) == 0)
            #expect(cplatform_add_seals(file.descriptor.rawValue, Int32(seals)) == 0)
            return try file.descriptor.duplicated(atLeast: 3)
        }
        let whole = cplatform_seal_seal | cplatform_seal_shrink | cplatform_seal_grow
        let size = 64 * (1 + SharedSegment.bucketCount + 1 + 1)
        #expect(attachError(try copy(size: size, seals: whole)) == nil)
        #expect(attachError(try copy(size: size, seals: 0)) == .notSealed)
        #expect(attachError(try copy(size: size, seals: cplatform_seal_seal | cplatform_seal_grow)) == .notSealed)
        #expect(attachError(try copy(size: size + 64, seals: whole)) == .badGeometry)
        #expect(attachError(try copy(size: size - 64, seals: whole)) == .badGeometry)
        #expect(attachError(try copy(size: 63, seals: whole)) == .badGeometry)
        #expect(attachError(try copy(size: 0, seals: whole)) == .badGeometry)
        #expect(attachError(try copy(size: 1 << 40, seals: whole)) == .badGeometry)
        // Sealed against writes as well it cannot be mapped for writing.
        let readOnly = try copy(size: size, seals: whole | cplatform_seal_write)
        #expect(attachError(readOnly) == .system(SystemError(errno: EPERM, call: "mmap")))
        #expect(attachError(Descriptor(adopting: open("/dev/zero", O_RDWR | O_CLOEXEC))) == .notSealed)
    }

    @Test("counts out of bounds make no segment", arguments: [(0, 1), (1, 0), (-1, 1), (1025, 1), (1, 4097)])
    func counts(workers: Int, transfers: Int) {
        #expect(throws: SharedSegmentError.badGeometry) {
            _ = try SharedSegment.create(workers: workers, transfersPerWorker: transfers)
        }
    }

    @Test("counters lose nothing between threads")
    func threads() throws {
        let segment = try SharedSegment.create(workers: 1, transfersPerWorker: 1)
        let now = MonotonicInstant(nanoseconds: 1_000_000_000_000)
        // 1 MiB/s: each KiB costs just under a millisecond.
        segment.bucket(5).setLimit(bytesPerSecond: 1 << 20, burst: .zero, at: now)
        let threads = try (0..<4).map { _ in
            try NamedThread.start(name: "counter") {
                for _ in 0..<5000 {
                    segment.worker(0).countIn(3)
                    segment.bucket(5).charge(1024, at: now)
                }
            }
        }
        for thread in threads { thread.join() }
        #expect(segment.worker(0).bytesIn == 60_000)
        #expect(segment.bucket(5).debt(at: now) == .nanoseconds(20_000 * (1_000_000_000 / 1024)))
    }

    @Test("a reader never sees the words of one lease under the id of another")
    func snapshots() throws {
        let segment = try SharedSegment.create(workers: 1, transfersPerWorker: 1)
        let line = segment.progress(worker: 0, transfer: 0)
        let writer = try NamedThread.start(name: "writer") {
            for lease in 1...20_000 as ClosedRange<UInt64> {
                line.begin(lease: lease)
                line.set(expected: lease)
                line.set(received: lease)
                line.free()
            }
            line.begin(lease: .max)
        }
        while true {
            guard let seen = line.snapshot() else { continue }
            if seen.lease == .max { break }
            if seen.lease == 0 { continue }
            #expect(seen.received == 0 || seen.received == seen.lease)
            #expect(seen.expected == nil || seen.expected == seen.lease)
        }
        writer.join()
    }
}

@Suite("Token bucket in shared memory, POOL-08")
struct SharedBucketTests {
    private let now = MonotonicInstant(nanoseconds: 1_000_000_000_000)

    @Test("without a limit nothing is owed")
    func unlimited() throws {
        let bucket = try SharedSegment.create(workers: 1, transfersPerWorker: 1).bucket(0)
        #expect(bucket.charge(1 << 30, at: now) == .zero)
        #expect(bucket.debt(at: now) == .zero)
    }

    @Test("debt is bytes over rate, less the credit of idle time, and is paid by waiting")
    func debt() throws {
        let bucket = try SharedSegment.create(workers: 1, transfersPerWorker: 1).bucket(63)
        bucket.setLimit(bytesPerSecond: 1 << 20, burst: .milliseconds(20), at: now)
        #expect(bucket.burstNanoseconds == 20_000_000)
        #expect(bucket.charge(1 << 20, at: now) == .milliseconds(980))
        #expect(bucket.charge(1 << 19, at: now) == .milliseconds(1480))
        #expect(bucket.debt(at: now.advanced(by: .milliseconds(480))) == .seconds(1))
        #expect(bucket.debt(at: now.advanced(by: .seconds(2))) == .zero)
        // Idle for long, but no more than the burst is credited.
        #expect(bucket.charge(1 << 20, at: now.advanced(by: .seconds(60))) == .milliseconds(980))
    }

    @Test("what did not come is given back")
    func refund() throws {
        let bucket = try SharedSegment.create(workers: 1, transfersPerWorker: 1).bucket(1)
        bucket.setLimit(bytesPerSecond: 1 << 20, burst: .zero, at: now)
        bucket.charge(1 << 20, at: now)
        bucket.refund(1 << 19)
        #expect(bucket.debt(at: now) == .milliseconds(500))
        bucket.refund(1 << 40)
        #expect(bucket.debt(at: now) == .zero)
        bucket.charge(1 << 20, at: now)
        bucket.clear()
        #expect(bucket.debt(at: now) == .zero)
    }

    @Test("only who finds all paid for spends, and of many at once one")
    func onlyPaid() throws {
        let segment = try SharedSegment.create(workers: 1, transfersPerWorker: 1)
        let (bucket, now) = (segment.bucket(1), now)
        #expect(bucket.chargeIfPaid(1 << 30, at: now))
        bucket.setLimit(bytesPerSecond: 1 << 20, burst: .milliseconds(20), at: now)
        let threads = try (0..<4).map { _ in
            try NamedThread.start(name: "spender") {
                if bucket.chargeIfPaid(1 << 20, at: now) { segment.worker(0).countIn(1) }
            }
        }
        for thread in threads { thread.join() }
        #expect(segment.worker(0).bytesIn == 1)
        // The credit of idle time counts.
        #expect(bucket.debt(at: now) == .milliseconds(980))
        #expect(!bucket.chargeIfPaid(0, at: now))
        #expect(!bucket.chargeIfPaid(1, at: now.advanced(by: .milliseconds(979))))
        #expect(bucket.chargeIfPaid(1 << 10, at: now.advanced(by: .milliseconds(980))))
    }

    @Test("there is slack when all credit of idle time is there")
    func slack() throws {
        let bucket = try SharedSegment.create(workers: 1, transfersPerWorker: 1).bucket(1)
        #expect(bucket.isSlack(at: now))
        bucket.setLimit(bytesPerSecond: 1 << 20, burst: .milliseconds(20), at: now)
        bucket.charge(1 << 20, at: now)
        #expect(!bucket.isSlack(at: now.advanced(by: .milliseconds(999))))
        #expect(bucket.isSlack(at: now.advanced(by: .seconds(1))))
    }

    @Test("a lifted limit frees those in debt")
    func lifted() throws {
        let bucket = try SharedSegment.create(workers: 1, transfersPerWorker: 1).bucket(1)
        bucket.setLimit(bytesPerSecond: 1, at: now)
        bucket.charge(1000, at: now)
        #expect(bucket.debt(at: now) > .seconds(900))
        bucket.setLimit(bytesPerSecond: 0, at: now)
        #expect(bucket.debt(at: now) == .zero)
    }

    @Test("nothing of a debt is left when a limit is set again after it was lifted")
    func setAgain() throws {
        let segment = try SharedSegment.create(workers: 1, transfersPerWorker: 1)
        let bucket = segment.bucket(1)
        bucket.setLimit(bytesPerSecond: 1, at: now)
        bucket.charge(1000, at: now)
        bucket.setLimit(bytesPerSecond: 0, at: now)
        bucket.setLimit(bytesPerSecond: 1 << 20, at: now)
        #expect(bucket.debt(at: now) == .zero && bucket.chargeIfPaid(1, at: now))
        // The same where one direction has a limit of its own for a time.
        let limit = segment.limit(0)
        #expect(!segment.isLimited(0))
        limit.set(down: 1, up: 1, burst: .zero, at: now)
        #expect(segment.isLimited(0) && !segment.isLimited(1))
        limit.bucket(.up).charge(1000, at: now)
        limit.set(down: 1 << 20, up: nil, burst: .zero, at: now)
        limit.set(down: 1 << 20, up: 1 << 20, burst: .zero, at: now)
        #expect(limit.bucket(.up).debt(at: now) == .zero)
    }

    @Test("a debt is paid at the rate of the day: bytes stay, time does not")
    func rateChange() throws {
        let bucket = try SharedSegment.create(workers: 1, transfersPerWorker: 1).bucket(1)
        bucket.setLimit(bytesPerSecond: 1 << 10, burst: .zero, at: now)
        bucket.charge(64 << 10, at: now)
        #expect(bucket.debt(at: now) == .seconds(64))
        bucket.setLimit(bytesPerSecond: 64 << 10, burst: .zero, at: now)
        #expect(bucket.debt(at: now) == .seconds(1))
        #expect(bucket.bytesPerSecond == 64 << 10)
        bucket.setLimit(bytesPerSecond: 1 << 10, burst: .zero, at: now.advanced(by: .milliseconds(500)))
        #expect(bucket.debt(at: now.advanced(by: .milliseconds(500))) == .seconds(32))
    }

    @Test("a joint limit has one bucket for both directions")
    func joint() throws {
        let limit = try SharedSegment.create(workers: 1, transfersPerWorker: 1).limit(1022)
        limit.set(down: 1 << 20, up: nil, burst: .zero, at: now)
        limit.bucket(.up).charge(1 << 20, at: now)
        #expect(limit.bucket(.down).debt(at: now) == .seconds(1))
        limit.set(down: 1 << 20, up: 2 << 20, burst: .zero, at: now)
        limit.bucket(.up).charge(1 << 20, at: now)
        #expect(limit.bucket(.up).debt(at: now) == .milliseconds(500))
        #expect(limit.bucket(.down).debt(at: now) == .seconds(1))
    }

    @Test(
        "there is a transfer for each 4 KiB/s of what is received, and one at least",
        arguments: [(0, nil), (1, 1), (14_800, 3), (1 << 20, 256), (.max, 256_000_000_000)] as [(UInt64, Int?)])
    func transfers(rate: UInt64, expected: Int?) throws {
        let limit = try SharedSegment.create(workers: 1, transfersPerWorker: 1).limit(0)
        limit.set(down: rate, up: 1, burst: .zero, at: now)
        #expect(limit.transfers == expected)
    }

    @Test("no sum overflows, whatever a hostile worker stored")
    func saturation() throws {
        let segment = try SharedSegment.create(workers: 1, transfersPerWorker: 1)
        var words: [UInt64] = [.max, .max, .max]
        #expect(pwrite(segment.descriptor.rawValue, &words, 24, 64) == 24)
        let bucket = segment.bucket(0)
        #expect(bucket.charge(.max, at: now) > .seconds(1))
        bucket.refund(.max)
        bucket.charge(.min, at: now)
        bucket.setLimit(bytesPerSecond: .max, at: now)
        #expect(bucket.nanosecondsPerMiB == 1)
    }
}
