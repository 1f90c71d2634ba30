import CTrawlPlatform
import Glibc

/// A directory below which files are made, and never beside or above it.
///
/// It is opened once, so that moving or replacing its path later changes nothing. Below it no symbolic link is
/// followed. For a small file in a directory used lately the system calls are: open, write, link, close. Bound to one
/// thread.
package final class OutputRoot {
    let root: OpenDirectory
    private let syncsDirectories: Bool
    private let namesParts: Bool
    /// One thread's, and lent to nobody: without the checks of exclusive access.
    @exclusivity(unchecked)
    private var recent: RecentDirectories
    /// When the first of them may have been found, in nanoseconds of whatever clock `refresh` is told.
    @exclusivity(unchecked)
    private var recentSince: UInt64 = 0
    /// How long a directory is taken for the one at its path.
    private static let longestKept: UInt64 = 1_000_000_000

    /// Opens an existing directory.
    ///
    /// It must be readable, not only searchable: a directory opened by O_PATH cannot be synced.
    ///
    /// - Parameters:
    ///   - path: Of the user's choice; symbolic links in it are followed.
    ///   - syncsDirectories: Whether new sub-directories must survive a loss of power.
    ///   - namesParts: Whether unfinished files have temporary names even where they could do without.
    package convenience init(
        path: String, syncsDirectories: Bool = false, namesParts: Bool = false
    ) throws(SystemError) {
        if path.utf8.contains(0) { throw SystemError(errno: EINVAL, call: "openat") }
        let opened = cplatform_openat(AT_FDCWD, path, O_RDONLY | O_DIRECTORY, 0)
        self.init(
            try Descriptor.adopt(opened, "openat"), syncsDirectories: syncsDirectories, namesParts: namesParts)
    }

    /// Takes over a directory that is open already, for reading.
    package init(_ directory: consuming Descriptor, syncsDirectories: Bool = false, namesParts: Bool = false) {
        root = OpenDirectory(directory)
        self.syncsDirectories = syncsDirectories
        self.namesParts = namesParts || !UnnamedFile.canBeNamed
        recent = RecentDirectories(capacity: RecentDirectories.usualCapacity)
    }

    /// Whether unfinished files need no name here, so that a killed process leaves nothing for `sweepParts()`.
    package private(set) lazy var hasUnnamedFiles: Bool = {
        guard !namesParts else { return false }
        let probe = cplatform_openat_unnamed(root.descriptor.rawValue, 0o600)
        guard probe >= 0 else { return false }
        _ = cplatform_close(probe)
        return true
    }()

    /// Lets go of directories that were found more than a second ago: others may have moved them since, and files are
    /// to be where their paths say. To be called before files are made, with a time that is known anyway.
    ///
    /// - Parameter now: Nanoseconds of a clock that does not go back.
    package func refresh(at now: UInt64) {
        guard now &- recentSince > Self.longestKept else { return }
        recentSince = now
        recent.removeAll()
    }

    /// Makes an unfinished file in the directory of its destination, with the sub-directories that are missing.
    ///
    /// - Parameters:
    ///   - relativePath: Below the root, such as `example.org/a.html`. It may come from the network.
    ///   - mode: Permissions, less the umask.
    ///   - detours: Whether the file may get another path when something that is no directory stands in the way of its
    ///     own: `a/b%2Fc` in place of `a/b/c`. ``PartFile/path`` tells. Otherwise that is an error, `ENOTDIR` or `ELOOP`.
    package func createPart(
        for relativePath: String, mode: UInt32 = 0o666, detours: Bool = false
    ) throws(OutputError) -> PartFile {
        var path = relativePath
        var checked = try path.withBytes { (bytes) throws(OutputError) in try OutputPath(checking: bytes) }
        var mayRetry = true
        while true {
            var obstacle: Int?
            do throws(SystemError) {
                let directory = try directory(of: path, checked, isMade: true, &obstacle)
                return try PartFile.create(
                    in: directory, path: path, nameStart: checked.nameStart, mode: mode, isNamed: namesParts)
            } catch {
                if let place = obstacle, detours {
                    guard let other = path.withBytes({ OutputPath.detour($0, at: place) }) else {
                        throw .system(SystemError(errno: ENAMETOOLONG, call: "openat"))
                    }
                    path = String(decoding: other, as: UTF8.self)
                    checked = try path.withBytes { (bytes) throws(OutputError) in try OutputPath(checking: bytes) }
                    continue
                }
                guard mayRetry, Self.mayPassWithoutDirectories(error) else { throw .system(error) }
                mayRetry = false
                recent.removeAll()
            }
        }
    }

    /// Whether an error may be due to the directories that are kept open.
    private static func mayPassWithoutDirectories(_ error: SystemError) -> Bool {
        switch error.errno {
        // Someone removed the directory since it was last used; some file systems say EPERM for that.
        case ENOENT, EPERM: true
        // Too many files are open: these are open only to save a call.
        case EMFILE, ENFILE: true
        default: false
        }
    }

    /// The directory of a path.
    ///
    /// - Parameters:
    ///   - isMade: Whether it is made where it is missing.
    ///   - obstacle: Where the component starts that is no directory.
    func directory(
        of path: String, _ checked: OutputPath, isMade: Bool, _ obstacle: inout Int?
    ) throws(SystemError) -> OpenDirectory {
        if checked.nameStart == 0 { return root }
        return try path.withBytes { (bytes) throws(SystemError) in
            let parent = UnsafeRawBufferPointer(rebasing: bytes[..<checked.directoryLength])
            if let known = recent.find(parent) { return known }
            let opened = withCString(parent) { path in
                cplatform_openat_beneath(root.descriptor.rawValue, path, O_RDONLY | O_DIRECTORY)
            }
            // Whatever kept openat2 from it (missing directories, an old kernel, a filter), the walk finds the reason.
            let directory =
                opened >= 0
                ? OpenDirectory(try Descriptor.adopt(opened, "openat2"))
                : try walk(parent, isMade: isMade, &obstacle)
            recent.insert(parent, directory)
            return directory
        }
    }

    /// Opens component by component, as above. Without `..` and links there is no way up.
    private func walk(
        _ path: UnsafeRawBufferPointer, isMade: Bool, _ obstacle: inout Int?
    ) throws(SystemError) -> OpenDirectory {
        var directory = root
        for component in path.split(separator: UInt8(ascii: "/")) {
            let name = UnsafeRawBufferPointer(rebasing: component)
            let parent = directory.descriptor.rawValue
            let flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW
            var opened = withCString(name) { cplatform_openat(parent, $0, flags, 0) }
            if opened == -ENOENT, isMade {
                let made = withCString(name) { cplatform_mkdirat(parent, $0, 0o777) }
                // Another process may have made it just now, or a file of that name.
                if made != -EEXIST { _ = try check(made, "mkdirat") }
                opened = withCString(name) { cplatform_openat(parent, $0, flags, 0) }
                if syncsDirectories { _ = try check(cplatform_fsync(parent), "fsync") }
            }
            // Of the two the kernel takes the first for a symbolic link.
            if opened == -ENOTDIR || opened == -ELOOP { obstacle = component.startIndex }
            directory = OpenDirectory(try Descriptor.adopt(opened, "openat"))
        }
        return directory
    }
}
