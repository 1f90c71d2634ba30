import Glibc
import TrawlCoding
import TrawlPlatform

/// The bytes of a list: from a file or standard input, without a byte order mark, unpacked when they are gzip.
///
/// Bound to one thread.
final class ListInput {
    enum Failure: Error {
        case system(SystemError)
        /// The gzip data is.
        case damaged(String)
    }

    enum Answer {
        case some
        case end
        case interrupted
    }

    private enum Kind {
        /// The first bytes have not come yet.
        case unknown
        case plain
        case packed(ContentDecoder)
    }

    private static let chunkSize = 128 << 10
    /// Packed bytes unpacked at once: deflate unfolds up to 1,032 times, and a megabyte at a time is enough.
    private static let packedStep = 1 << 10

    let descriptor: Int32
    /// Of a regular file, in bytes; nil for what has no size.
    let size: Int64?
    /// Bytes of the list that were read and are not held back here, packed ones as they are in the file.
    var position: Int64 { readBytes - Int64(pending.count - used) }
    private var readBytes: Int64 = 0
    private let isOwned: Bool
    private let decoders = DecoderPool(capacity: 1)
    private var kind: Kind
    private var isAtStart = true
    /// Bytes read and not used: the first ones, or packed ones.
    private var pending: [UInt8] = []
    private var used = 0
    private var isAtEnd = false

    /// - Parameter unpacks: Whether a list that begins as gzip does is unpacked.
    init(_ path: String, unpacks: Bool) throws(SystemError) {
        kind = unpacks ? .unknown : .plain
        isOwned = path != "-"
        descriptor = isOwned ? open(path, O_RDONLY | O_CLOEXEC) : STDIN_FILENO
        guard descriptor >= 0 else { throw SystemError(errno: errno, call: "open") }
        var info = stat()
        let isKnown = fstat(descriptor, &info) == 0
        size = isKnown && info.st_mode & S_IFMT == S_IFREG ? Int64(info.st_size) : nil
        if isKnown, info.st_mode & S_IFMT == S_IFDIR { throw SystemError(errno: EISDIR, call: "read") }
    }

    deinit {
        if isOwned, descriptor >= 0 { close(descriptor) }
    }

    /// Adds some bytes to `lines`, perhaps none.
    func read(into lines: LineBuffer, interrupt: Int32) throws(Failure) -> Answer {
        switch kind {
        case .plain: return try readPlain(into: lines, interrupt)
        case .packed(let decoder): return try unpack(decoder, into: lines, interrupt)
        case .unknown:
            guard let count = try readMore(interrupt) else { return .interrupted }
            try start(lines, isWhole: count == 0)
            return .some
        }
    }

    /// Finds out what the first bytes are, as soon as they say it.
    private func start(_ lines: LineBuffer, isWhole: Bool) throws(Failure) {
        // RFC 1952 §2.3.1.
        let magic: [UInt8] = [0x1F, 0x8B]
        if pending.starts(with: magic) {
            do throws(DecodingError) {
                // A list may be as large and as monotonous as it likes: it is read in pieces.
                kind = .packed(
                    try decoders.take(
                        for: [.gzip], limits: DecodingLimits(decodedBytes: .max, ratio: .max, ratioFloor: 0)))
            } catch {
                throw .damaged(Self.reason(error))
            }
            return
        }
        if !isWhole, pending.count < 2, magic.starts(with: pending) { return }
        kind = .plain
        let bytes = pending
        pending = []
        bytes.withUnsafeBytes { add($0, to: lines) }
    }

    private func readPlain(into lines: LineBuffer, _ interrupt: Int32) throws(Failure) -> Answer {
        if isAtEnd { return finishStart(lines) }
        if isAtStart {
            guard let count = try readMore(interrupt) else { return .interrupted }
            let bytes = pending
            pending = []
            bytes.withUnsafeBytes { add($0, to: lines) }
            return count == 0 ? finishStart(lines) : .some
        }
        guard waitForInput(interrupt) else { return .interrupted }
        var failure: Int32 = 0
        var got = 0
        lines.append(room: Self.chunkSize) { room in
            got = Glibc.read(descriptor, room.baseAddress, room.count)
            if got < 0 { failure = errno }
            return max(0, got)
        }
        readBytes += Int64(max(0, got))
        if failure != 0, failure != EINTR, failure != EAGAIN {
            throw .system(SystemError(errno: failure, call: "read"))
        }
        return got == 0 ? .end : .some
    }

    private func unpack(
        _ decoder: ContentDecoder, into lines: LineBuffer, _ interrupt: Int32
    ) throws(Failure) -> Answer {
        if used == pending.count {
            if isAtEnd { return finishStart(lines) }
            pending.removeAll(keepingCapacity: true)
            used = 0
            guard try readMore(interrupt) != nil else { return .interrupted }
        }
        do throws(DecodingError) {
            if pending.isEmpty {
                guard isAtEnd else { return .some }
                try decoder.finish()
            } else {
                let end = min(used + Self.packedStep, pending.count)
                let failure: DecodingError? = pending.withUnsafeBytes { bytes in
                    do throws(DecodingError) {
                        try decoder.decode(UnsafeRawBufferPointer(rebasing: bytes[used..<end])) { add($0, to: lines) }
                        return nil
                    } catch {
                        return error
                    }
                }
                if let failure { throw failure }
                used = end
            }
        } catch {
            throw .damaged(Self.reason(error))
        }
        // What gzip(1) warns of: here it may be half of the list. A last byte that could begin a member counts when
        // nothing follows it.
        if decoder.ignoredBytes > 0 { throw .damaged("what follows its end is not compressed") }
        return pending.isEmpty ? finishStart(lines) : .some
    }

    // MARK: Byte order mark

    private static let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
    private var marked: [UInt8] = []

    /// Adds bytes to the lines, a byte order mark at their very start left out.
    private func add(_ bytes: UnsafeRawBufferPointer, to lines: LineBuffer) {
        guard isAtStart else { return lines.append(bytes) }
        marked.append(contentsOf: bytes)
        if marked.count < 3, Self.mark.starts(with: marked) { return }
        isAtStart = false
        let skipped = marked.starts(with: Self.mark) ? 3 : 0
        marked.withUnsafeBytes { lines.append(UnsafeRawBufferPointer(rebasing: $0[skipped...])) }
        marked = []
    }

    /// At the end: bytes that could have begun a byte order mark are bytes of the list.
    private func finishStart(_ lines: LineBuffer) -> Answer {
        guard isAtStart else { return .end }
        isAtStart = false
        marked.withUnsafeBytes { lines.append($0) }
        marked = []
        return .some
    }

    // MARK: Reading

    /// Reads into `pending`.
    /// - Returns: How many bytes came, zero at the end; nil when interrupted.
    private func readMore(_ interrupt: Int32) throws(Failure) -> Int? {
        while waitForInput(interrupt) {
            let size = Self.chunkSize
            var failure: Int32 = 0
            let chunk = [UInt8](unsafeUninitializedCapacity: size) { space, count in
                let got = Glibc.read(descriptor, space.baseAddress, size)
                if got < 0 { failure = errno }
                count = max(0, got)
            }
            if failure == EINTR || failure == EAGAIN { continue }
            if failure != 0 { throw .system(SystemError(errno: failure, call: "read")) }
            if pending.isEmpty { pending = chunk } else { pending += chunk }
            readBytes += Int64(chunk.count)
            if chunk.isEmpty { isAtEnd = true }
            return chunk.count
        }
        return nil
    }

    /// Waits until there is something to read.
    /// - Returns: False when the other descriptor is readable; it is looked at first, since some input never ends.
    ///   Without one (-1), false when there is nothing now.
    private func waitForInput(_ interrupt: Int32) -> Bool {
        var pollers = (
            pollfd(fd: interrupt, events: Int16(POLLIN), revents: 0),
            pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        )
        return withUnsafeMutableBytes(of: &pollers) { bytes in
            let pollers = bytes.assumingMemoryBound(to: pollfd.self)
            while poll(pollers.baseAddress, 2, interrupt < 0 ? 0 : -1) < 0, errno == EINTR {}
            return pollers[0].revents == 0 && pollers[1].revents != 0
        }
    }

    private static func reason(_ error: DecodingError) -> String {
        switch error {
        case .corrupt(_, let reason): reason
        case .truncated: "it ends too early"
        case .outOfMemory: "out of memory"
        case .tooManyLayers, .stackedBrotli, .tooLarge, .ratioTooHigh, .tooMuchMemory, .refused: "\(error)"
        }
    }
}
