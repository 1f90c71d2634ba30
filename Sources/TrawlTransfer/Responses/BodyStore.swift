import Glibc
import TrawlPlatform
import TrawlProtocol

/// Where the body of one transfer goes, with small pieces gathered before they are written.
///
/// A small body costs one write in a file and none in memory. Reused from transfer to transfer. One thread's, which
/// lends nothing that it changes meanwhile: without checks of exclusive access where they would be made for every body.
final class BodyStore {
    private enum Place {
        case discard
        case memory(limit: UInt64)
        case file(OutputRoot, path: String, isAsked: Bool, collision: FileCollision, sync: Bool, makesEmpty: Bool)
        case descriptor
        /// A pipe or terminal; see `Transfer+Paced`.
        case paced
        case stream
    }

    /// Bytes gathered before a write; also the most that is kept for an inline body.
    static let gathered = WireProtocol.maximumInlineBody

    private let fileCalls: FileCalls
    private let flushFile: (Int32) throws(SystemError) -> Void
    @exclusivity(unchecked)
    private var place = Place.discard
    private var buffer = UnsafeMutableRawBufferPointer(start: nil, count: 0)
    private var used = 0
    @exclusivity(unchecked)
    private var part: PartFile?
    @exclusivity(unchecked)
    private var memory: MemoryFile?
    @exclusivity(unchecked)
    private var descriptor: Descriptor?
    /// Where in the descriptor's file this body begins.
    private var start: off_t = 0
    @exclusivity(unchecked)
    private var paced: PacedDescriptor?
    /// Decoded bytes taken in.
    private(set) var length: UInt64 = 0
    /// How many of them an earlier lease of the hop had taken in.
    private(set) var base: UInt64 = 0
    /// How long the body will be, where that is known: a body that comes in one piece need not be gathered.
    var expectedLength: UInt64?

    /// - Parameters:
    ///   - fileCalls: Is told when a file makes its thread wait.
    ///   - flush: Has a file system say what it would on closing.
    init(_ fileCalls: FileCalls, flush: @escaping (Int32) throws(SystemError) -> Void = Descriptor.flush) {
        self.fileCalls = fileCalls
        flushFile = flush
    }

    deinit {
        abandon()
        buffer.deallocate()
    }

    /// Whether the body leaves as `data` frames instead of coming here.
    var isStream: Bool {
        if case .stream = place { return true }
        return false
    }

    /// Whether the bytes go nowhere.
    var isDiscard: Bool {
        if case .discard = place { return true }
        return false
    }

    /// Whether the body is kept in memory.
    var isMemory: Bool {
        if case .memory = place { return true }
        return false
    }

    /// Whether the body goes to what must not be waited for, by `writePaced`.
    var isPaced: Bool {
        if case .paced = place { return true }
        return false
    }

    /// Whether the body goes to a file as it comes.
    private var isWritten: Bool {
        switch place {
        case .file, .descriptor: true
        case .discard, .memory, .paced, .stream: false
        }
    }

    func useNothing() { place = .discard }
    func useStream() { place = .stream }
    func useMemory(limit: UInt64) { place = .memory(limit: limit) }
    /// The descriptor belongs to the store from now on.
    func useDescriptor(_ descriptor: Int32) {
        let descriptor = Descriptor(adopting: descriptor)
        if PacedDescriptor.isPaced(descriptor) {
            paced = PacedDescriptor(descriptor)
            place = .paced
        } else {
            start = lseek(descriptor.rawValue, 0, SEEK_CUR)
            self.descriptor = consume descriptor
            place = .descriptor
        }
    }

    /// - Parameter isAsked: Whether the path is the one the lease named; otherwise the news of the end names it.
    func useFile(
        _ root: OutputRoot, path: String, isAsked: Bool, collision: FileCollision, sync: Bool, makesEmpty: Bool
    ) {
        place = .file(root, path: path, isAsked: isAsked, collision: collision, sync: sync, makesEmpty: makesEmpty)
    }

    /// The file the body goes to as it comes, standing behind all bytes so far; nil when it goes elsewhere.
    func openFile() throws(HopFailure) -> Int32? {
        guard isWritten else { return nil }
        try flush()
        if case .descriptor = place { return descriptor?.rawValue }
        return try openPart().rawValue
    }

    /// Counts bytes that went elsewhere.
    func count(_ bytes: Int) {
        length += UInt64(bytes)
    }

    /// Takes the next bytes of the body.
    func write(_ bytes: UnsafeRawBufferPointer) throws(HopFailure) {
        length += UInt64(bytes.count)
        switch place {
        case .discard, .stream, .paced: return
        case .memory(let limit):
            guard length <= limit else { throw Self.tooLarge(limit) }
        case .file, .descriptor: break
        }
        if used == 0, length - base == expectedLength, isWritten {
            try writeThrough(bytes)
            return
        }
        if bytes.count <= Self.gathered - used {
            if buffer.count == 0 { buffer = .allocate(byteCount: Self.gathered, alignment: 64) }
            UnsafeMutableRawBufferPointer(rebasing: buffer[used...]).copyMemory(from: bytes)
            used += bytes.count
            return
        }
        try flush()
        if bytes.count >= Self.gathered {
            try writeThrough(bytes)
        } else {
            buffer.copyMemory(from: bytes)
            used = bytes.count
        }
    }

    /// Ends the body: files appear under their names, memory is sealed.
    ///
    /// - Returns: Where the body is, and the descriptor that travels with the news, which belongs to the caller.
    func finish() throws(HopFailure) -> (BodyDelivery, Int32?) {
        defer { reset() }
        switch place {
        case .discard:
            return (.discarded(length: length), nil)
        case .stream:
            return (.streamed(length: length), nil)
        case .memory:
            // What was gathered is not written unless it has to be: then it is all there is.
            guard length > UInt64(used) else { return (.inline(Array(buffer[..<used])), nil) }
            try flush()
            guard let file = memory.take() else { throw HopFailure(.internalError) }
            do {
                try file.seal()
                return (.memory(length: length), try file.descriptor.duplicated(atLeast: 3).release())
            } catch {
                throw Self.failure(error)
            }
        case .file(_, let path, let isAsked, let collision, let sync, let makesEmpty):
            guard length > 0 || makesEmpty else { return (.discarded(length: 0), nil) }
            try flush()
            let part = try openPart()
            let isInPlace = isAsked && part.path == path
            guard try publish(part, collision, isInPlace: isInPlace, sync: sync) else {
                return (.unnamed(length: length, name: isAsked ? nil : path), try copy(of: part))
            }
            let name = isAsked && part.path == path ? nil : part.path
            return (.file(length: length, name: name, isAdopted: part.isAdopted), nil)
        case .descriptor:
            try flush()
            try settle()
            return (.descriptor(length: length), nil)
        case .paced:
            return (.descriptor(length: length), nil)
        }
    }

    /// - Parameter isInPlace: Whether the path is still the one the lease named.
    /// - Returns: Whether the file has a name; otherwise the coordinator gives it one.
    private func publish(
        _ part: PartFile, _ collision: FileCollision, isInPlace: Bool, sync: Bool
    ) throws(HopFailure) -> Bool {
        fileCalls.begin()
        defer { fileCalls.end() }
        do throws(SystemError) {
            switch collision {
            case .replace: try part.publish(replacing: true, sync: sync)
            case .fail: try part.publish(replacing: false, sync: sync)
            case .failUnlessIdentical: try part.publish(replacing: false, adoptsIdentical: true, sync: sync)
            case .number(let first, let adoptsIdentical):
                try part.publish(numberedFrom: first, adoptsIdentical: adoptsIdentical, sync: sync)
            case .onlyNumber(let number):
                guard isInPlace else { return false }
                return try part.publish(number: number, sync: sync)
            }
            return true
        } catch {
            throw Self.failure(error)
        }
    }

    /// The open file of a part, close-on-exec, which belongs to the caller.
    private func copy(of part: PartFile) throws(HopFailure) -> Int32 {
        let copy = fcntl(part.rawValue, F_DUPFD_CLOEXEC, 3)
        if copy < 0 { throw Self.failure(SystemError(errno: errno, call: "fcntl")) }
        return copy
    }

    /// Goes on behind bytes that an earlier lease of the hop left, right after the place was chosen.
    ///
    /// - Parameter file: Has at least so many bytes; it belongs to the store from now on.
    func goOn(behind length: UInt64, in file: consuming Descriptor) throws(HopFailure) {
        let end = off_t(clamping: length)
        // What a worker that died wrote behind them goes.
        guard ftruncate(file.rawValue, end) == 0, lseek(file.rawValue, end, SEEK_SET) == end else {
            throw Self.failure(SystemError(errno: errno, call: "ftruncate"))
        }
        if case .memory = place {
            memory = MemoryFile(goingOn: file)
        } else {
            let part = try openPart()
            do throws(SystemError) {
                try part.goOn(in: file)
            } catch {
                throw Self.failure(error)
            }
        }
        self.length = length
        base = length
    }

    /// Ends the body before it is whole, for another lease to go on with.
    ///
    /// - Parameter waiting: The last bytes that have not reached their place.
    /// - Returns: How many bytes did, and the descriptor of a file of this worker's that they are in, which belongs to
    ///   the caller.
    func handOver(without waiting: Int) -> (kept: UInt64, file: Int32?) {
        defer { reset() }
        do throws(HopFailure) {
            try flush()
            switch place {
            case .discard, .stream, .paced: return (length - min(length, UInt64(waiting)), nil)
            case .descriptor:
                try settle()
                return (length, nil)
            case .memory, .file:
                let file = memory == nil ? part?.rawValueToPassOn : memory?.descriptor.rawValue
                guard length > 0, let file else { return (0, nil) }
                let copy = fcntl(file, F_DUPFD_CLOEXEC, 3)
                return copy < 0 ? (0, nil) : (length, copy)
            }
        } catch {
            return (0, nil)
        }
    }

    /// Drops what there is; nothing is left behind, but in the file of another process what was written there.
    func abandon() {
        if case .descriptor = place { try? settle() }
        reset()
    }

    /// Learns what the file system has to say of the descriptor's file, before it closes: nobody else is told. Of what
    /// was lost there nothing stays, for nobody to go on behind it.
    private func settle() throws(HopFailure) {
        guard let number = descriptor?.rawValue else { return }
        fileCalls.begin()
        defer { fileCalls.end() }
        do throws(SystemError) {
            try flushFile(number)
        } catch {
            if start >= 0 { _ = ftruncate(number, start) }
            throw Self.failure(error)
        }
    }

    private func reset() {
        fileCalls.begin()
        if let part { part.discard() }
        part = nil
        descriptor = nil
        fileCalls.end()
        memory = nil
        paced = nil
        place = .discard
        used = 0
        length = 0
        base = 0
        expectedLength = nil
    }

    /// The pipe or terminal to wait for; nil when it has no reader yet.
    var pacedNumber: Int32? { paced?.rawValue }

    /// Writes what the pipe or terminal has room for, which is not counted here.
    /// - Returns: How many bytes it took, and whether it is open.
    func writePaced(_ bytes: UnsafeRawBufferPointer) throws(HopFailure) -> (taken: Int, isOpen: Bool) {
        do throws(SystemError) {
            let taken = try paced?.write(bytes) ?? 0
            return (taken, paced?.isOpen ?? false)
        } catch {
            throw Self.failure(error)
        }
    }

    private func flush() throws(HopFailure) {
        guard used > 0 else { return }
        try writeThrough(UnsafeRawBufferPointer(rebasing: buffer[..<used]))
        used = 0
    }

    private func writeThrough(_ bytes: UnsafeRawBufferPointer) throws(HopFailure) {
        let part: PartFile?
        if case .file = place { part = try openPart() } else { part = nil }
        fileCalls.begin()
        defer { fileCalls.end() }
        do throws(SystemError) {
            switch place {
            case .discard, .stream, .paced:
                return
            case .memory:
                if memory == nil { memory = try MemoryFile(name: "trawl-body") }
                try memory?.write(bytes)
            case .file:
                try part?.write(bytes)
            case .descriptor:
                try descriptor?.writeAll(bytes)
            }
        } catch {
            throw Self.failure(error)
        }
    }

    private func openPart() throws(HopFailure) -> PartFile {
        if let part { return part }
        guard case .file(let root, let path, _, let collision, _, _) = place else { throw HopFailure(.internalError) }
        fileCalls.begin()
        defer { fileCalls.end() }
        do {
            let detours =
                switch collision {
                case .number, .onlyNumber: true
                case .replace, .fail, .failUnlessIdentical: false
                }
            let made = try root.createPart(for: path, detours: detours)
            part = made
            return made
        } catch {
            switch error {
            case .invalidPath: throw HopFailure(.file, systemError: EINVAL, detail: "the path leads nowhere: \(path)")
            case .notARegularFile: throw HopFailure(.file, systemError: EEXIST, detail: "not a regular file: \(path)")
            case .system(let error): throw Self.failure(error)
            }
        }
    }

    /// What is said of a body that is longer than may be kept in memory.
    static func tooLarge(_ limit: UInt64) -> HopFailure {
        HopFailure(.bodyTooLarge, detail: "more than \(limit) bytes in memory")
    }

    private static func failure(_ error: SystemError) -> HopFailure {
        HopFailure(.file, systemError: error.errno, detail: error.description)
    }
}
