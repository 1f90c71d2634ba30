import Glibc
import TrawlCrypto
import TrawlHTTP
import TrawlPlatform

/// A line of the list that is set aside.
struct AsideLine: Equatable {
    /// Its number.
    var number: Int
    /// Whether its record takes the place of an earlier run's.
    var isAgain: Bool
    /// When it was read.
    var started: MonotonicInstant
    /// As it came, without its end.
    var bytes: [UInt8]
}

/// Lines that are set aside, in rows, in a file without a name.
///
/// Each is written once and read once, and knows which is the next of its row. Whatever there is of them takes memory
/// for one piece of the file, the one that is being filled; a line that was put there a moment ago is taken without the
/// disk. Lines that hold credentials are sealed with a key that nobody else has.
///
/// Bound to one thread.
final class AsideFile {
    /// Where a line is.
    typealias Place = UInt64

    /// Why lines cannot be taken any more.
    enum Failure: Error {
        case system(SystemError)
        /// What was read is not what was written.
        case damaged
    }

    /// What stands before a line.
    private enum Header {
        /// The place of the next line of the row, `Place.max` at the end of it; the line's number and two marks; when
        /// it was read, in nanoseconds; how many bytes follow. All of eight bytes.
        static let next = 0
        static let number = 8
        static let started = 16
        static let length = 24
        static let size = 32

        static let again: UInt64 = 1 << 63
        static let sealed: UInt64 = 1 << 62
    }

    /// The longest line, and what stands before it, fit more than once.
    static let pieceSize = 2 << 20
    /// What is left to others on the disk: results and bodies may be written there.
    private static let leftFree: UInt64 = 64 << 20
    /// What is read at once when nobody knows how long the line is.
    private static let guess = 512

    private let file: ScratchFile
    private let directory: String
    private let size: Int
    private let buffer: UnsafeMutableRawBufferPointer
    private var pieces: AsidePieces
    /// The piece that is in memory, and how much of it is filled.
    private var open: Int?
    private var filled = 0
    private var key: SealingKey?

    /// - Parameters:
    ///   - directory: Where the file is made.
    ///   - mostBytes: How large it may become.
    ///   - pieceSize: Of each of its pieces; a line that does not fit is not kept.
    init(in directory: String, mostBytes: Int, pieceSize: Int = AsideFile.pieceSize) throws(SystemError) {
        file = try ScratchFile(in: directory)
        self.directory = directory
        size = pieceSize
        pieces = AsidePieces(limit: max(1, mostBytes / pieceSize))
        buffer = .allocate(byteCount: pieceSize, alignment: 16)
    }

    deinit { buffer.deallocate() }

    /// Puts a line at the end of a row.
    ///
    /// - Parameters:
    ///   - last: Where the row's last line is; nil begins one.
    ///   - isSecret: Whether it may hold credentials.
    /// - Returns: Where it is; nil when there is no room: then nothing has changed.
    func append(_ line: AsideLine, after last: Place?, isSecret: Bool) -> Place? {
        var number = UInt64(line.number)
        if line.isAgain { number |= Header.again }
        guard isSecret else { return append(line.bytes.span.bytes, number, line.started, after: last) }
        guard let sealed = seal(line.bytes) else { return nil }
        return append(sealed.span.bytes, number | Header.sealed, line.started, after: last)
    }

    /// Takes the first line of a row.
    ///
    /// - Returns: The line, and where the next of its row is.
    func take(_ place: Place) throws(Failure) -> (line: AsideLine, next: Place?) {
        let piece = Int(place) / size
        var bytes: [UInt8]
        if piece == open {
            let start = Int(place) % size
            let count = try Self.length(UnsafeRawBufferPointer(rebasing: buffer[start..<filled]))
            bytes = Array(buffer[start..<start + count])
        } else {
            bytes = try read(Self.guess, at: place)
            let count = try bytes.span.withUnsafeBytes { bytes throws(Failure) in try Self.length(bytes, most: size) }
            if count > bytes.count { bytes = try read(count, at: place) }
            guard bytes.count >= count else { throw .damaged }
            bytes.removeLast(bytes.count - count)
        }
        pieces.taken(from: piece, isOpen: piece == open)
        let (next, number, started) = bytes.withUnsafeBytes { bytes in
            (
                bytes.loadUnaligned(fromByteOffset: Header.next, as: UInt64.self),
                bytes.loadUnaligned(fromByteOffset: Header.number, as: UInt64.self),
                bytes.loadUnaligned(fromByteOffset: Header.started, as: UInt64.self)
            )
        }
        bytes.removeFirst(Header.size)
        if number & Header.sealed != 0 {
            let opened = bytes.withUnsafeBytes { key?.open($0, context: []) }
            guard let opened else { throw .damaged }
            bytes = opened
        }
        let line = AsideLine(
            number: Int(number & ~(Header.again | Header.sealed)), isAgain: number & Header.again != 0,
            started: MonotonicInstant(nanoseconds: started), bytes: bytes)
        return (line, next == .max ? nil : next)
    }

    // MARK: Inside

    private func append(
        _ bytes: RawSpan, _ number: UInt64, _ started: MonotonicInstant, after last: Place?
    ) -> Place? {
        let count = Header.size + bytes.byteCount
        guard let piece = room(for: count) else { return nil }
        let place = Place(piece * size + filled)
        // Before the line itself: as long as it is not counted, it is not there.
        if let last, !link(last, to: place) { return nil }
        let space = UnsafeMutableRawBufferPointer(rebasing: buffer[filled..<filled + count])
        space.storeBytes(of: Place.max, toByteOffset: Header.next, as: UInt64.self)
        space.storeBytes(of: number, toByteOffset: Header.number, as: UInt64.self)
        space.storeBytes(of: started.nanoseconds, toByteOffset: Header.started, as: UInt64.self)
        space.storeBytes(of: UInt64(bytes.byteCount), toByteOffset: Header.length, as: UInt64.self)
        bytes.withUnsafeBytes { UnsafeMutableRawBufferPointer(rebasing: space[Header.size...]).copyMemory(from: $0) }
        filled += count
        pieces.added(to: piece)
        return place
    }

    /// Sees to it that so many bytes fit into the piece in memory, and which piece that is.
    private func room(for count: Int) -> Int? {
        if let open {
            if pieces.isEmpty(open) { filled = 0 }
            if filled + count <= size { return open }
        }
        guard count <= size, let (piece, isNew) = pieces.open() else { return nil }
        do throws(SystemError) {
            if isNew {
                do throws(SystemError) {
                    guard freeBytes >= Self.leftFree else { throw SystemError(errno: ENOSPC, call: "fallocate") }
                    try file.reserve(size, at: UInt64(piece * size))
                } catch {
                    pieces.refuseNewest()
                    return nil
                }
            }
            if let open {
                try file.write(UnsafeRawBufferPointer(rebasing: buffer[..<filled]), at: UInt64(open * size))
            }
        } catch {
            // What is in memory stays there, and is taken from there.
            pieces.giveBack(piece)
            return nil
        }
        open = piece
        filled = 0
        return piece
    }

    /// What its file system has left for this process's user, in bytes; 0 where that cannot be told.
    private var freeBytes: UInt64 {
        var info = statvfs()
        guard statvfs(directory, &info) == 0 else { return 0 }
        return UInt64(info.f_bavail).multipliedReportingOverflow(by: UInt64(info.f_frsize)).partialValue
    }

    private func link(_ last: Place, to place: Place) -> Bool {
        if Int(last) / size == open {
            buffer.storeBytes(of: place, toByteOffset: Int(last) % size + Header.next, as: UInt64.self)
            return true
        }
        do throws(SystemError) {
            try withUnsafeBytes(of: place) { bytes throws(SystemError) in
                try file.write(bytes, at: last + UInt64(Header.next))
            }
            return true
        } catch {
            return false
        }
    }

    private func read(_ count: Int, at place: Place) throws(Failure) -> [UInt8] {
        var failure: SystemError?
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { space, filled in
            do throws(SystemError) {
                filled = try file.read(into: UnsafeMutableRawBufferPointer(space), at: place)
            } catch {
                failure = error
            }
        }
        if let failure { throw .system(failure) }
        return bytes
    }

    /// How long the line is, with what stands before it.
    private static func length(_ bytes: UnsafeRawBufferPointer, most: Int? = nil) throws(Failure) -> Int {
        guard bytes.count >= Header.size else { throw .damaged }
        let length = bytes.loadUnaligned(fromByteOffset: Header.length, as: UInt64.self)
        guard length <= UInt64(most ?? bytes.count) - UInt64(Header.size) else { throw .damaged }
        return Header.size + Int(length)
    }

    private func seal(_ bytes: [UInt8]) -> [UInt8]? {
        let key = key ?? SealingKey()
        self.key = key
        return bytes.withUnsafeBytes { key.seal($0, context: []) }
    }
}
