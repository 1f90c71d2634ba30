import CTrawlPlatform
import Glibc

/// A file being written in its destination's directory, without a name until it is complete.
///
/// So a killed process leaves nothing behind. Where the file system has no unnamed files, or the process cannot
/// name them later, it has a temporary name beside the destination's, and is locked while it is written. It ends by
/// `publish`, which makes it appear complete under its own name, or by `discard`; one that is let go of is discarded.
/// It belongs to one thread at a time, and lends nothing that it changes meanwhile, so it does without checks of
/// exclusive access.
package final class PartFile {
    let directory: OpenDirectory
    /// Where the file will be, and from `publish` on where it is: relative to its root, or absolute.
    @exclusivity(unchecked)
    package internal(set) var path: String
    /// Whether a file that was there already, with the same bytes, counts as this one from `publish` on.
    @exclusivity(unchecked)
    package internal(set) var isAdopted = false
    /// Where the last component of `path` starts.
    let nameStart: Int
    @exclusivity(unchecked)
    var file: Descriptor?
    /// The temporary name, while it exists.
    @exclusivity(unchecked)
    var temporaryName: [UInt8]?
    var isOver = false
    /// Whether the temporary name is one that outlives this object unless the file is discarded.
    package internal(set) var isKept = false

    init(
        directory: OpenDirectory, path: String, nameStart: Int, file: consuming Descriptor, temporaryName: [UInt8]?
    ) {
        self.directory = directory
        self.path = path
        self.nameStart = nameStart
        self.file = consume file
        self.temporaryName = temporaryName
    }

    deinit { if !isKept { removeTemporaryName() } }

    /// Makes the file.
    ///
    /// - Parameter isNamed: Whether it gets a temporary name even where it could do without.
    static func create(
        in directory: OpenDirectory, path: String, nameStart: Int, mode: UInt32,
        isNamed: Bool = !UnnamedFile.canBeNamed
    ) throws(SystemError) -> PartFile {
        let number = directory.descriptor.rawValue
        if !isNamed {
            let unnamed = cplatform_openat_unnamed(number, mode)
            switch unnamed {
            case -EOPNOTSUPP, -EISDIR, -EINVAL, -ENOSYS: break
            default:
                return PartFile(
                    directory: directory, path: path, nameStart: nameStart,
                    file: try Descriptor.adopt(unnamed, "openat"), temporaryName: nil)
            }
        }
        return try createNamed(in: directory, path: path, nameStart: nameStart, mode: mode)
    }

    /// Names tried before a file is given up.
    private static let mostNames = 16

    /// The same with a temporary name, locked, so that a sweep sees that it is in use.
    private static func createNamed(
        in directory: OpenDirectory, path: String, nameStart: Int, mode: UInt32
    ) throws(SystemError) -> PartFile {
        let number = directory.descriptor.rawValue
        for _ in 0..<mostNames {
            let name = try path.withBytes { (bytes) throws(SystemError) in
                try PartName.make(for: UnsafeRawBufferPointer(rebasing: bytes[nameStart...]))
            }
            let flags = O_CREAT | O_EXCL | O_RDWR | O_NOFOLLOW
            let made = name.withUnsafeBytes { withCString($0) { cplatform_openat(number, $0, flags, mode) } }
            if made == -EEXIST { continue }
            let file = try Descriptor.adopt(made, "openat")
            // A sweep may have come between; then it is another name's turn. Without locks nothing can be swept.
            if FileLock.take(file.rawValue) == EWOULDBLOCK { continue }
            let size = name.withUnsafeBytes { withCString($0) { cplatform_regular_size_at(number, $0) } }
            if size == -Int64(ENOENT) { continue }
            return PartFile(directory: directory, path: path, nameStart: nameStart, file: file, temporaryName: name)
        }
        throw SystemError(errno: EEXIST, call: "openat")
    }

    /// Makes an unfinished file for a destination the user chose, wherever that is.
    ///
    /// - Parameters:
    ///   - path: Absolute; symbolic links on the way to its directory are followed. One at the destination itself is
    ///     replaced, not followed.
    ///   - mode: Permissions, less the umask.
    package static func create(besideAbsolutePath path: String, mode: UInt32 = 0o666) throws(OutputError) -> PartFile {
        let nameStart = try path.withBytes { (path) throws(OutputError) in
            guard let slash = path.lastIndex(of: UInt8(ascii: "/")), path[0] == UInt8(ascii: "/"), !path.contains(0)
            else { throw .invalidPath }
            let name = UnsafeRawBufferPointer(rebasing: path[(slash + 1)...])
            guard try OutputPath(checking: name).nameStart == 0 else { throw .invalidPath }
            return slash + 1
        }
        let directory: OpenDirectory
        do throws(SystemError) {
            // The slash stays, so that the directory of "/name" is "/".
            let opened = path.withBytes { path in
                withCString(UnsafeRawBufferPointer(rebasing: path[..<nameStart])) { OpenDirectory.open($0) }
            }
            directory = OpenDirectory(try Descriptor.adopt(opened, "openat"))
        } catch {
            throw .system(error)
        }
        var existing: UInt32 = 0
        let found = path.withBytes { path in
            withCString(UnsafeRawBufferPointer(rebasing: path[nameStart...])) {
                cplatform_mode_at(directory.descriptor.rawValue, $0, &existing)
            }
        }
        // A rename would put a file in the place of /dev/null.
        if found == 0, existing & UInt32(S_IFMT) != UInt32(S_IFREG) { throw .notARegularFile }
        do throws(SystemError) {
            return try create(in: directory, path: path, nameStart: nameStart, mode: mode)
        } catch {
            throw .system(error)
        }
    }

    /// The open file, for a worker to write to; -1 after the end.
    package var rawValue: Int32 {
        file?.rawValue ?? -1
    }

    /// Appends all bytes. After an error (`ENOSPC`, `EFBIG`, `EIO`) the file can only be discarded.
    package func write(_ bytes: UnsafeRawBufferPointer) throws(SystemError) {
        try file?.writeAll(bytes)
    }

    /// The open file, for another process to go on with; nil when it has a temporary name, which would go with this
    /// object.
    package var rawValueToPassOn: Int32? { temporaryName == nil ? file?.rawValue : nil }

    /// Goes on with a file without a name that another process began in this directory, in place of this one.
    package func goOn(in other: consuming Descriptor) throws(SystemError) {
        // Only a file without a name could be passed on, so this one, of the same file system, has none either.
        guard temporaryName == nil else { throw SystemError(errno: EXDEV, call: "linkat") }
        file = consume other
    }

    /// Removes the file. Does nothing after `publish`.
    package func discard() {
        file = nil
        isOver = true
        isKept = false
        removeTemporaryName()
    }

    /// A name that someone else removed is as good as removed.
    func removeTemporaryName() {
        guard let name = temporaryName else { return }
        temporaryName = nil
        _ = name.withUnsafeBytes { name in
            withCString(name) { cplatform_unlinkat(directory.descriptor.rawValue, $0) }
        }
    }
}

/// Lends bytes as a zero-terminated string to a system call; they hold no zero and are at most a path long.
@inline(__always)
func withCString<Value>(_ bytes: UnsafeRawBufferPointer, _ call: (UnsafePointer<CChar>) -> Value) -> Value {
    withUnsafeTemporaryAllocation(byteCount: bytes.count + 1, alignment: 1) { buffer in
        buffer.copyMemory(from: bytes)
        buffer[bytes.count] = 0
        return buffer.withMemoryRebound(to: CChar.self) { string in
            guard let string = string.baseAddress else { preconditionFailure("a buffer of at least one byte") }
            return call(UnsafePointer(string))
        }
    }
}
