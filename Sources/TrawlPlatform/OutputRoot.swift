import CPlatform
import Glibc

/// A directory below which files are made, and never beside or above it.
///
/// It is opened once, so that moving or replacing its path later changes nothing. Below it no symbolic link is followed.
/// For a small file in a directory used lately the system calls are: open, write, close, rename. Bound to one thread.
package final class OutputRoot {
    private let root: OpenDirectory
    private let syncsDirectories: Bool
    private var recent = RecentDirectories()
    private var random = RandomPool()

    /// Opens an existing directory.
    ///
    /// It must be readable, not only searchable: a directory opened by O_PATH cannot be synced.
    ///
    /// - Parameters:
    ///   - path: Of the user's choice; symbolic links in it are followed.
    ///   - syncsDirectories: Whether new sub-directories must survive a loss of power.
    package convenience init(path: String, syncsDirectories: Bool = false) throws(SystemError) {
        if path.utf8.contains(0) { throw SystemError(errno: EINVAL, call: "openat") }
        let opened = cplatform_openat(AT_FDCWD, path, O_RDONLY | O_DIRECTORY, 0)
        self.init(try Descriptor.adopt(opened, "openat"), syncsDirectories: syncsDirectories)
    }

    /// Takes over a directory that is open already, for reading.
    package init(_ directory: consuming Descriptor, syncsDirectories: Bool = false) {
        root = OpenDirectory(directory)
        self.syncsDirectories = syncsDirectories
    }

    /// Makes a temporary file beside its destination, with the sub-directories that are missing.
    ///
    /// - Parameters:
    ///   - relativePath: Below the root, such as `example.org/a.html`. It may come from the network.
    ///   - mode: Permissions, less the umask.
    package func createPart(for relativePath: String, mode: UInt32 = 0o666) throws(OutputError) -> PartFile {
        var path = relativePath
        let made: Result<PartFile, OutputError> = path.withUTF8 { path in
            do throws(OutputError) {
                return .success(try createPart(forBytes: UnsafeRawBufferPointer(path), mode: mode))
            } catch {
                return .failure(error)
            }
        }
        return try made.get()
    }

    /// Makes a temporary file beside its destination; the path as bytes, of any encoding.
    package func createPart(
        forBytes relativePath: UnsafeRawBufferPointer, mode: UInt32 = 0o666
    ) throws(OutputError) -> PartFile {
        let path = try OutputPath(checking: relativePath)
        let parent = UnsafeRawBufferPointer(rebasing: relativePath[..<path.directoryLength])
        let name = UnsafeRawBufferPointer(rebasing: relativePath[path.nameStart...])
        do {
            var directory = try directory(at: parent)
            var isSecondTry = false
            while true {
                do {
                    let names = PartNames(name: name, random: try random.next())
                    if let part = try PartFile.create(in: directory, names: names, mode: mode) { return part }
                } catch  where (error.errno == ENOENT || error.errno == EPERM) && !isSecondTry {
                    // Someone removed the directory since it was last used; some file systems say EPERM for that.
                    isSecondTry = true
                    recent.removeAll()
                    directory = try self.directory(at: parent)
                }
            }
        } catch {
            throw .system(error)
        }
    }

    private func directory(at path: UnsafeRawBufferPointer) throws(SystemError) -> OpenDirectory {
        if path.isEmpty { return root }
        if let known = recent.find(path) { return known }
        let opened = withCString(path) { path in
            cplatform_openat_beneath(root.descriptor.rawValue, path, O_RDONLY | O_DIRECTORY)
        }
        // Whatever kept openat2 from it (missing directories, an old kernel, a filter), the walk finds the true reason.
        let directory = opened >= 0 ? OpenDirectory(try Descriptor.adopt(opened, "openat2")) : try walk(path)
        recent.insert(path, directory)
        return directory
    }

    /// Opens component by component, making what is missing. Without `..` and links there is no way up.
    private func walk(_ path: UnsafeRawBufferPointer) throws(SystemError) -> OpenDirectory {
        var directory = root
        for component in path.split(separator: UInt8(ascii: "/")) {
            let name = UnsafeRawBufferPointer(rebasing: component)
            let parent = directory.descriptor.rawValue
            let flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW
            var opened = withCString(name) { cplatform_openat(parent, $0, flags, 0) }
            if opened == -ENOENT {
                let made = withCString(name) { cplatform_mkdirat(parent, $0, 0o777) }
                // Another process may have made it just now.
                if made != -EEXIST { _ = try check(made, "mkdirat") }
                opened = withCString(name) { cplatform_openat(parent, $0, flags, 0) }
                if syncsDirectories { _ = try check(cplatform_fsync(parent), "fsync") }
            }
            directory = OpenDirectory(try Descriptor.adopt(opened, "openat"))
        }
        return directory
    }
}

/// The sub-directories used last, kept open.
private struct RecentDirectories {
    private struct Entry {
        let path: [UInt8]
        let directory: OpenDirectory
        var lastUse: UInt64
    }

    private static let capacity = 16
    private var entries: [Entry] = []
    private var uses: UInt64 = 0

    mutating func find(_ path: UnsafeRawBufferPointer) -> OpenDirectory? {
        for index in entries.indices where entries[index].path.elementsEqual(path) {
            uses += 1
            entries[index].lastUse = uses
            return entries[index].directory
        }
        return nil
    }

    mutating func insert(_ path: UnsafeRawBufferPointer, _ directory: OpenDirectory) {
        uses += 1
        let entry = Entry(path: Array(path), directory: directory, lastUse: uses)
        guard entries.count == Self.capacity,
            let oldest = entries.indices.min(by: { entries[$0].lastUse < entries[$1].lastUse })
        else {
            entries.append(entry)
            return
        }
        entries[oldest] = entry
    }

    mutating func removeAll() {
        entries.removeAll(keepingCapacity: true)
    }
}

/// Random numbers for names, many to a system call.
private struct RandomPool {
    private var numbers: [UInt64] = []

    mutating func next() throws(SystemError) -> UInt64 {
        if let number = numbers.popLast() { return number }
        numbers = [UInt64](repeating: 0, count: 32)
        // Up to 256 bytes always come whole.
        _ = try check(cplatform_random(&numbers, 256), "getrandom")
        return numbers.removeLast()
    }
}
