import Glibc
import TrawlPlatform

/// A destination outside the output directories: opened here, written by a worker through its descriptor, and given
/// its name here.
///
/// `@unchecked Sendable`: made by the caller's thread before the fetch is handed over, used by the supervisor thread
/// alone afterwards.
final class OpenedDestination: @unchecked Sendable {
    let path: String
    /// A new file beside the destination; nil once it has its name or is gone.
    private var part: PartFile?
    /// A device or pipe that exists already: written to directly.
    private let existing: Existing?

    /// Opens what is needed to write to `path`, before anything is sent.
    ///
    /// - Parameter resuming: What has come of it, to be gone on with.
    init(path: String, replaces: Bool, resuming: ResumeData? = nil) throws(FetchError) {
        self.path = path
        var info = stat()
        if stat(path, &info) == 0 {
            switch info.st_mode & S_IFMT {
            case S_IFREG:
                if !replaces {
                    throw FetchError(.file, "\(path.terminalSafe) exists", cause: .system(EEXIST))
                }
                if access(path, W_OK) != 0 { throw FetchError.file(path, errno) }
            case S_IFDIR:
                throw FetchError.file(path, EISDIR)
            default:
                if resuming != nil { throw .resumeData("\(path.terminalSafe) is no file") }
                do throws(SystemError) {
                    existing = Existing(try Self.special(path, info.st_mode))
                } catch {
                    throw FetchError.file(path, error.errno)
                }
                part = nil
                return
            }
        }
        existing = nil
        // A link is followed: /dev/stdout and the like must not be replaced by a file.
        let absolute = try Self.absolute(path)
        do throws(OutputError) {
            if let resuming {
                part = try PartFile.reopen(kept: resuming.partPath, for: absolute, length: resuming.offset)
            } else {
                part = try PartFile.create(besideAbsolutePath: absolute)
            }
        } catch {
            if let resuming { throw .resumeData(Self.reason(error, resuming)) }
            switch error {
            case .system(let error): throw FetchError.file(path, error.errno)
            case .notARegularFile: throw FetchError(.file, "\(path.terminalSafe): not a regular file")
            case .invalidPath:
                let isLong = path.utf8.split(separator: UInt8(ascii: "/")).contains { $0.count > Int(NAME_MAX) }
                throw FetchError.file(path, isLong ? ENAMETOOLONG : EINVAL)
            }
        }
    }

    private static func reason(_ error: OutputError, _ data: ResumeData) -> String {
        switch error {
        case .system(let error): "\(data.partPath.terminalSafe): \(SystemError.text(of: error.errno))"
        case .invalidPath, .notARegularFile: "\(data.partPath.terminalSafe) is not what has come of the destination"
        }
    }

    /// How many bytes are there; 0 for what is no file.
    var length: UInt64 {
        guard let part else { return 0 }
        var info = stat()
        return fstat(part.rawValue, &info) == 0 && info.st_size > 0 ? UInt64(info.st_size) : 0
    }

    /// Whether what is there has the name that resume data gave, with the bytes that were there then.
    var hasKeptName: Bool { part?.isKept ?? false }

    /// Leaves what is there beside the destination, to go on with.
    ///
    /// - Returns: The destination's absolute path, and the part's; nil when there is none, or it cannot be kept.
    func keep() -> (destination: String, part: String)? {
        guard let part, let kept = try? part.keep() else { return nil }
        self.part = nil
        return (part.path, kept)
    }

    /// The descriptor for a worker, emptied of what an earlier hop wrote.
    ///
    /// - Parameter offset: The bytes that stay, if there are so many.
    func descriptorForHop(keeping offset: UInt64 = 0) throws(SystemError) -> Int32 {
        if let existing { return existing.descriptor.rawValue }
        guard let part else { throw SystemError(errno: EBADF, call: "ftruncate") }
        if offset == 0 { try part.loseKeptName() }
        // Not while it is empty still: ext4 writes a file that was ever cut to nothing out to the disk as it is closed.
        let place = Int(clamping: offset)
        if lseek(part.rawValue, 0, SEEK_END) != place, ftruncate(part.rawValue, place) != 0 {
            throw SystemError(errno: errno, call: "ftruncate")
        }
        guard lseek(part.rawValue, place, SEEK_SET) == place else { throw SystemError(errno: errno, call: "lseek") }
        return part.rawValue
    }

    /// Opens what is no file and no directory, without waiting for anybody.
    ///
    /// A pipe is handed over as a place: its worker opens it when it has a reader. Until then the transfer rests, which
    /// no limit but that of the whole fetch ends, as a shell would wait.
    private static func special(_ path: String, _ mode: mode_t) throws(SystemError) -> Descriptor {
        switch mode & S_IFMT {
        case S_IFIFO:
            guard access(path, W_OK) == 0 else { throw SystemError(errno: errno, call: "access") }
            return try PacedDescriptor.pipe(at: path)
        case S_IFCHR:
            return try PacedDescriptor.device(at: path)
        default:
            let opened = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY)
            guard opened >= 0 else { throw SystemError(errno: errno, call: "open") }
            return Descriptor(adopting: opened)
        }
    }

    /// Whether what was written cannot be taken back, and another hop would write it again: a pipe or terminal.
    var isPaced: Bool { existing.map { PacedDescriptor.isPaced($0.descriptor) } ?? false }

    /// Whether the file has that many bytes; of what is no file nobody can tell.
    func holds(_ count: UInt64) -> Bool {
        guard let part else { return true }
        var info = stat()
        return fstat(part.rawValue, &info) == 0 && info.st_size >= 0 && UInt64(info.st_size) == count
    }

    /// Makes the file appear under its name. Where that is another's, which may not be replaced, it can still be kept.
    func publish(replaces: Bool, syncs: Bool) throws(SystemError) {
        do throws(SystemError) {
            try part?.publish(replacing: replaces, sync: syncs)
        } catch {
            // Of what could not be synced nobody knows what is there.
            if error.errno != EEXIST { discard() }
            throw error
        }
        part = nil
    }

    /// Leaves nothing behind.
    func discard() {
        part?.discard()
        part = nil
    }

    /// An optional needs a copyable type around a descriptor.
    private final class Existing {
        let descriptor: Descriptor
        init(_ descriptor: consuming Descriptor) { self.descriptor = descriptor }
    }

    /// Where the file is or would be, from the root on: a symbolic link is followed to its end.
    private static func absolute(_ path: String) throws(FetchError) -> String {
        do throws(SystemError) {
            if let target = try FileLink.target(of: path) { return target }
            return try FileLink.absolute(path)
        } catch {
            throw FetchError.file(path, error.errno)
        }
    }
}

extension FetchError {
    /// A failure with a file of the caller's.
    static func file(_ path: String, _ number: Int32) -> FetchError {
        FetchError(
            .file, "\(path.terminalSafe): \(SystemError.text(of: number))", cause: .system(number))
    }
}

extension SystemError {
    /// The system's text for an error number.
    static func text(of number: Int32) -> String {
        let description = SystemError(errno: number, call: "").description
        return String(description.drop { $0 == ":" || $0 == " " })
    }
}
