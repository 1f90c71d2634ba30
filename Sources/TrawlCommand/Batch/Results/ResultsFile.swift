import Glibc
import Trawl
import TrawlHTTP
import TrawlJSON
import TrawlPlatform

/// The file of result records, one JSON object a line: appended whole lines, by one run at a time.
///
/// A run holds a lock on it. What a killed run left unfinished at its end is cut off; everything before stays. What is
/// no regular file is written by a thread of its own. Bound to one thread.
final class ResultsFile {
    /// For messages.
    let name: String
    private let descriptor: Descriptor
    /// The end of the last whole record; nil for what is not a regular file.
    private var end: Int64?
    /// What was cut off the end when the file was opened, in bytes.
    private(set) var cutOff: Int64 = 0

    /// Why it could not be locked, as `errno`, where the file system has no locks; nil when it is locked or needs none.
    private(set) var missingLock: Int32?

    /// Whether an earlier run made the file: it may have left files, be it that no record of theirs was written.
    let isOfEarlierRun: Bool

    private let isRegular: Bool
    /// Where it was opened.
    private let path: String
    /// When it was last looked for there.
    private var lookedAt = MonotonicInstant(nanoseconds: 0)
    /// Writes to what is no regular file, whose reader may not read.
    private var thread: OutputThread<[UInt8]>?

    /// Opens or makes the file, locks it and mends its end. `-` is standard output, which is only written to.
    ///
    /// - Parameters:
    ///   - list: The open list: a file of which the run would read what it wrote there is refused before it is mended.
    ///   - lock: Locks an open file: zero, or `errno`.
    init(
        _ path: String, list: Int32? = nil,
        lock: (Int32) -> Int32 = { FileLock.take($0, within: FileLock.moment) }
    ) throws(CommandError) {
        self.path = path
        let isStandardOutput = LocalPath.isStandardOutput(path)
        name = isStandardOutput ? "standard output" : path.terminalSafe
        var number: Int32 = -1
        var isNew = false
        if isStandardOutput {
            number = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3)
        } else {
            // A pipe is not opened for reading too: its end would never be seen.
            var info = stat()
            let isRead = stat(path, &info) != 0 || info.st_mode & S_IFMT == S_IFREG
            let flags = (isRead ? O_RDWR : O_WRONLY) | O_APPEND | O_CLOEXEC | O_NOCTTY
            number = open(path, flags)
            if number < 0, errno == ENOENT {
                number = open(path, flags | O_CREAT, 0o666)
                isNew = true
            }
        }
        guard number >= 0 else { throw Self.failure(name, errno) }
        descriptor = Descriptor(adopting: number)
        var info = stat()
        let isKnown = fstat(number, &info) == 0
        isRegular = isKnown && info.st_mode & S_IFMT == S_IFREG
        isOfEarlierRun = isRegular && !isNew && !isStandardOutput
        guard isKnown else { throw Self.failure(name, errno) }
        var listed = stat()
        if isRegular, let list, fstat(list, &listed) == 0, listed.st_dev == info.st_dev, listed.st_ino == info.st_ino {
            throw CommandError("\(name): list and results are one file", status: ExitStatus.usage)
        }
        guard !isStandardOutput, isRegular else { return }
        switch lock(number) {
        case 0: break
        case EWOULDBLOCK: throw CommandError("\(name): in use by another run", status: ExitStatus.cannotCreate)
        // The file system has none, or nobody who keeps them.
        case let failure where [ENOSYS, ENOLCK, EOPNOTSUPP].contains(failure): missingLock = failure
        case let failure:
            throw CommandError(
                "\(name): cannot be locked: \(SystemError.reason(failure))", status: ExitStatus.cannotCreate)
        }
        // Looked at again: another run may have written until it let go of the lock.
        guard fstat(number, &info) == 0 else { throw Self.failure(name, errno) }
        try mend(size: Int64(info.st_size))
    }

    /// Gives up the lock: closing alone would leave it to a process that is just being started.
    deinit {
        if end != nil { FileLock.release(descriptor.rawValue) }
    }

    /// To be called before the first record is appended.
    ///
    /// - Parameter changed: Called on another thread when there is room again, and when writing has failed.
    func begin(changed: @escaping @Sendable () -> Void) throws(SystemError) {
        if isRegular { return }
        let number = descriptor.rawValue
        thread = try OutputThread(mostLoad: LineWriter.mostLoad) {
            LineWriter(descriptor: number)
        } changed: {
            changed()
        }
    }

    /// Whether more records may be appended; when not, `changed` is called once they may.
    func hasRoom() -> Bool { thread?.hasRoom() ?? true }

    /// Whether all that was appended is written, and nothing more will be.
    var isOver: Bool { thread?.isOver ?? true }

    /// Why no more records can be written.
    var failure: SystemError? { thread?.failure }

    /// Whether the file is still where it was opened; looked for once a second. What is appended to a file without a
    /// name is lost, and one that took its place does not know of it.
    func isInPlace(at now: MonotonicInstant) -> Bool {
        guard end != nil, lookedAt.duration(to: now) >= .seconds(1) else { return true }
        lookedAt = now
        var (open, named) = (stat(), stat())
        // Whatever else a disk or server says may pass; if not, writing tells.
        guard fstat(descriptor.rawValue, &open) == 0 else { return true }
        guard stat(path, &named) == 0 else { return errno != ENOENT && errno != ENOTDIR }
        return open.st_dev == named.st_dev && open.st_ino == named.st_ino
    }

    /// Nothing more comes: see ``OutputThread/finish(_:wokenBy:drain:)``.
    func finish(_ stopping: StopRequests, _ attention: WakeUp) {
        thread?.finish(stopping, wokenBy: attention.rawValue) { attention.drain() }
    }

    /// To be called when nothing more comes: network file systems report a full disk only on closing. It stays open for
    /// its lock.
    func flush() throws(SystemError) {
        if isRegular { try descriptor.duplicated(atLeast: 3).close() }
    }

    /// Appends whole records.
    ///
    /// - Throws: After an error the file ends with the last record that was written whole.
    func append(_ records: JSONWriter) throws(SystemError) {
        if let thread { return thread.add(Array(records.bytes)) }
        let failure: SystemError? = records.withUnsafeBytes { bytes in
            do throws(SystemError) {
                try StandardStreams.write(bytes, to: descriptor.rawValue)
                return nil
            } catch {
                return error
            }
        }
        guard let failure else {
            if let end { self.end = end + Int64(records.count) }
            return
        }
        if let end { self.end = keepWholeRecords(from: end) }
        throw failure
    }

    /// Calls `body` with each record that was there when the file was opened, and its line number.
    func readRecords(_ body: (_ line: Int, _ record: UnsafeRawBufferPointer) -> Void) throws(CommandError) {
        guard let end, end > 0 else { return }
        var line = 0
        var rest: [UInt8] = []
        var offset: Int64 = 0
        while offset < end {
            let chunk = try read(at: offset, count: Int(min(1 << 20, end - offset)))
            if chunk.isEmpty { break }
            offset += Int64(chunk.count)
            chunk.withUnsafeBytes { chunk in
                var start = 0
                while let newline = Self.newline(in: chunk, from: start) {
                    line += 1
                    if rest.isEmpty {
                        body(line, UnsafeRawBufferPointer(rebasing: chunk[start..<newline]))
                    } else {
                        rest += chunk[start..<newline]
                        rest.withUnsafeBytes { body(line, $0) }
                        rest.removeAll(keepingCapacity: true)
                    }
                    start = newline + 1
                }
                rest += chunk[start...]
            }
        }
    }

    // MARK: The file's end

    /// Cuts an unfinished record off, but only from a file that is one of results.
    private func mend(size: Int64) throws(CommandError) {
        if size > 0 { try checkBeginning(size: size) }
        var end = size
        search: while end > 0 {
            let from = max(0, end - (1 << 16))
            let chunk = try read(at: from, count: Int(end - from))
            if let newline = chunk.lastIndex(of: 0x0A) {
                end = from + Int64(newline) + 1
                break search
            }
            end = from
        }
        cutOff = size - end
        if cutOff > 0, ftruncate(descriptor.rawValue, Int(end)) != 0 { throw Self.failure(name, errno) }
        self.end = end
    }

    /// Throws for a file that is none of results, or of another version.
    private func checkBeginning(size: Int64) throws(CommandError) {
        let start = try read(at: 0, count: Int(min(size, Int64(ResultRecord.beginning.count))))
        if start.elementsEqual(ResultRecord.beginning.prefix(start.count)) { return }
        let first = try read(at: 0, count: Int(min(size, Self.longestFirst)))
        let end = first.firstIndex(of: 0x0A)
        let version = end.flatMap { end in first[..<end].withUnsafeBytes { ResultRecord.version(of: $0) } }
        if version == 1 { return }
        let mark = Array(#"{"v":"#.utf8)
        let isDigit = start.dropFirst(mark.count).first.map { (0x30...0x39).contains($0) } == true
        let isOther = version != nil || start.starts(with: mark) && isDigit
        throw CommandError(
            isOther
                ? "\(name): results of a version that this program does not know; they are left as they are"
                : "\(name): not a results file of this program; it is left as it is",
            status: ExitStatus.cannotCreate)
    }

    /// More than a record has that was written anew: a line of a list has a MiB at most.
    private static let longestFirst: Int64 = 8 << 20

    /// After a write that failed half-way.
    private func keepWholeRecords(from start: Int64) -> Int64 {
        var info = stat()
        guard fstat(descriptor.rawValue, &info) == 0 else { return start }
        let size = Int64(info.st_size)
        // Somebody else has cut it off: there is nothing of ours to cut, and nothing to lengthen.
        guard size > start else { return size }
        var end = start
        if let written = try? read(at: start, count: Int(size - start)),
            let newline = written.lastIndex(of: 0x0A)
        {
            end = start + Int64(newline) + 1
        }
        ftruncate(descriptor.rawValue, Int(end))
        return end
    }

    private func read(at offset: Int64, count: Int) throws(CommandError) -> [UInt8] {
        var failure: Int32 = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            filled = 0
            while filled < count {
                let got = pread(
                    descriptor.rawValue, buffer.baseAddress.map { $0 + filled }, count - filled, Int(offset) + filled)
                if got < 0 && errno == EINTR { continue }
                if got < 0 { failure = errno }
                if got <= 0 { return }
                filled += got
            }
        }
        if failure != 0 { throw Self.failure(name, failure) }
        return bytes
    }

    private static func newline(in bytes: UnsafeRawBufferPointer, from start: Int) -> Int? {
        guard start < bytes.count, let base = bytes.baseAddress,
            let found = memchr(base + start, 0x0A, bytes.count - start)
        else { return nil }
        return UnsafeRawPointer(found) - base
    }

    private static func failure(_ name: String, _ number: Int32) -> CommandError {
        CommandError("\(name): \(SystemError.reason(number))", status: ExitStatus.cannotCreate)
    }
}
