import CPlatform
import Glibc

/// A directory kept open, shared by the files being written in it.
final class OpenDirectory: Sendable {
    let descriptor: Descriptor

    init(_ descriptor: consuming Descriptor) {
        self.descriptor = descriptor
    }
}

/// A file being written in its destination's directory, without a name until it is complete.
///
/// So a killed process leaves nothing behind. File systems that have no unnamed files get a temporary name beside the
/// destination's. It ends by `publish`, which makes it appear complete under its own name, or by `discard`; one that is let
/// go of is discarded. It belongs to one thread at a time.
package final class PartFile {
    private let directory: OpenDirectory
    private let names: PartNames
    private var file: Descriptor?
    /// Whether the temporary name exists.
    private var hasTemporaryName: Bool
    private var isOver = false

    private init(directory: OpenDirectory, names: PartNames, file: consuming Descriptor, hasTemporaryName: Bool) {
        self.directory = directory
        self.names = names
        self.file = consume file
        self.hasTemporaryName = hasTemporaryName
    }

    deinit {
        if hasTemporaryName { unlink() }
    }

    /// Makes the file; `nil` when it needs a temporary name and that is taken already.
    static func create(
        in directory: OpenDirectory, names: PartNames, mode: UInt32
    ) throws(SystemError) -> PartFile? {
        let unnamed = cplatform_openat_unnamed(directory.descriptor.rawValue, mode)
        switch unnamed {
        case -EOPNOTSUPP, -EISDIR, -EINVAL, -ENOSYS: break
        default:
            return PartFile(
                directory: directory, names: names, file: try Descriptor.adopt(unnamed, "openat"),
                hasTemporaryName: false)
        }
        let result = names.withCStrings { part, _ in
            let flags = O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW
            return cplatform_openat(directory.descriptor.rawValue, part, flags, mode)
        }
        if result == -EEXIST { return nil }
        return PartFile(
            directory: directory, names: names, file: try Descriptor.adopt(result, "openat"), hasTemporaryName: true)
    }

    /// Makes a temporary file beside a destination the user chose, wherever that is.
    ///
    /// - Parameters:
    ///   - path: Absolute; symbolic links on the way to its directory are followed. One at the destination itself is
    ///     replaced, not followed.
    ///   - mode: Permissions, less the umask.
    package static func create(
        besideAbsolutePath path: String, mode: UInt32 = 0o666
    ) throws(OutputError) -> PartFile {
        var path = path
        let made: Result<PartFile, OutputError> = path.withUTF8 { path in
            do throws(OutputError) {
                return .success(try create(beside: UnsafeRawBufferPointer(path), mode: mode))
            } catch {
                return .failure(error)
            }
        }
        return try made.get()
    }

    private static func create(beside path: UnsafeRawBufferPointer, mode: UInt32) throws(OutputError) -> PartFile {
        guard let slash = path.lastIndex(of: UInt8(ascii: "/")), path[0] == UInt8(ascii: "/"), !path.contains(0) else {
            throw .invalidPath
        }
        let name = UnsafeRawBufferPointer(rebasing: path[(slash + 1)...])
        guard try OutputPath(checking: name).nameStart == 0 else { throw .invalidPath }
        let directory: OpenDirectory
        do {
            // The slash stays, so that the directory of "/name" is "/".
            let opened = withCString(UnsafeRawBufferPointer(rebasing: path[...slash])) { path in
                cplatform_openat(AT_FDCWD, path, O_RDONLY | O_DIRECTORY, 0)
            }
            directory = OpenDirectory(try Descriptor.adopt(opened, "openat"))
        } catch {
            throw .system(error)
        }
        var existing: UInt32 = 0
        let found = withCString(name) { cplatform_mode_at(directory.descriptor.rawValue, $0, &existing) }
        // A rename would put a file in the place of /dev/null.
        if found == 0, existing & UInt32(S_IFMT) != UInt32(S_IFREG) { throw .notARegularFile }
        do {
            while true {
                var random: UInt64 = 0
                _ = try check(cplatform_random(&random, 8), "getrandom")
                let names = PartNames(name: name, random: random)
                if let part = try create(in: directory, names: names, mode: mode) { return part }
            }
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

    /// Gives the file its own name; it appears there complete or not at all.
    ///
    /// - Parameters:
    ///   - replacing: Whether a file of that name may be replaced; if not and there is one, the error is `EEXIST`.
    ///   - sync: Whether content and name must survive a loss of power when this returns.
    /// - Throws: After an error nothing has appeared, except when syncing the directory failed. `publish` may be tried again
    ///   after `EEXIST`; otherwise discard.
    package func publish(replacing: Bool, sync: Bool) throws(SystemError) {
        precondition(!isOver, "a file is published or discarded once")
        let directory = directory.descriptor.rawValue
        if sync, let number = file?.rawValue { _ = try check(cplatform_fsync(number), "fsync") }
        if let number = file?.rawValue, !hasTemporaryName {
            try publishUnnamed(number, in: directory, replacing: replacing)
        } else {
            // Network file systems report a full disk only here.
            if let open = file.take() { try open.close() }
            try publishNamed(in: directory, replacing: replacing)
        }
        hasTemporaryName = false
        isOver = true
        file = nil
        if sync { _ = try check(cplatform_fsync(directory), "fsync") }
    }

    private func publishUnnamed(_ number: Int32, in directory: Int32, replacing: Bool) throws(SystemError) {
        let linked = names.withCStrings { _, name in cplatform_link_open(number, directory, name) }
        guard linked == -EEXIST, replacing else {
            _ = try check(linked, "linkat")
            return
        }
        // A link never replaces; a rename does.
        _ = try check(names.withCStrings { part, _ in cplatform_link_open(number, directory, part) }, "linkat")
        hasTemporaryName = true
        try publishNamed(in: directory, replacing: true)
    }

    private func publishNamed(in directory: Int32, replacing: Bool) throws(SystemError) {
        if replacing {
            _ = try check(names.withCStrings { cplatform_rename(directory, $0, $1) }, "renameat")
            return
        }
        let renamed = names.withCStrings { cplatform_rename_new(directory, $0, $1) }
        guard renamed == -EINVAL || renamed == -ENOSYS else {
            _ = try check(renamed, "renameat2")
            return
        }
        // File systems without that flag: a hard link fails on an existing name just as well.
        _ = try check(names.withCStrings { cplatform_linkat(directory, $0, $1) }, "linkat")
        unlink()
    }

    /// Removes the file. Does nothing after `publish`.
    package func discard() {
        file = nil
        isOver = true
        if hasTemporaryName { unlink() }
        hasTemporaryName = false
    }

    /// A name that someone else removed is as good as removed.
    private func unlink() {
        _ = names.withCStrings { part, _ in cplatform_unlinkat(directory.descriptor.rawValue, part) }
    }
}

/// Lends bytes as a zero-terminated string to a system call; they hold no zero and are at most a path long.
@inline(__always)
func withCString(_ bytes: UnsafeRawBufferPointer, _ call: (UnsafePointer<CChar>) -> Int32) -> Int32 {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: bytes.count + 1) { buffer in
        let raw = UnsafeMutableRawBufferPointer(buffer)
        raw.copyMemory(from: bytes)
        raw[bytes.count] = 0
        guard let string = buffer.baseAddress else { return -EINVAL }
        return call(string)
    }
}
