import CTrawlPlatform
import Glibc

/// What is there: the root itself, directories and files beneath it.
extension OutputRoot {
    /// Which directory the root is.
    package func identity() throws(SystemError) -> FileIdentity { try FileIdentity(of: root.descriptor) }

    /// Why no file can be made here, as `errno`; nil when one can.
    package var obstacle: Int32? {
        var info = stat()
        guard fstat(root.descriptor.rawValue, &info) == 0 else { return errno }
        if info.st_nlink == 0 { return ENOENT }
        // By the effective user, who makes the files.
        return faccessat(root.descriptor.rawValue, ".", R_OK | W_OK | X_OK, AT_EACCESS) == 0 ? nil : errno
    }

    /// Opens a regular file for reading. No symbolic link leads to one.
    package func open(_ relativePath: String) throws(OutputError) -> Descriptor {
        let (directory, name) = try place(of: relativePath, isMade: false)
        return try Self.open(name, in: directory)
    }

    /// Whether what is at a path is found there, too, with all letters of one of its names in the other case.
    ///
    /// Then its file system is blind to case (vfat, exFAT, CIFS, directories of ext4 with casefold), and other paths lead
    /// to it. Names do not tell: one that was found by another spelling has that spelling for the kernel.
    package func isBlindToCase(at relativePath: String) -> Bool {
        let path = Array(relativePath.utf8)
        guard let file = identity(of: path) else { return false }
        var start = 0
        while start <= path.count {
            let end = path[start...].firstIndex(of: UInt8(ascii: "/")) ?? path.count
            var other = path
            for index in start..<end where Self.isLetter(path[index]) { other[index] ^= 0x20 }
            if other != path, identity(of: other) == file { return true }
            start = end + 1
        }
        return false
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
    }

    /// Which file is at a path; nil when none is.
    private func identity(of path: [UInt8]) -> FileIdentity? {
        var info = stat()
        let found = path.withUnsafeBytes { path in
            withCString(path) { fstatat(root.descriptor.rawValue, $0, &info, AT_SYMLINK_NOFOLLOW) }
        }
        return found == 0 ? FileIdentity(device: UInt64(info.st_dev), inode: UInt64(info.st_ino)) : nil
    }

    /// Makes the sub-directories that a file's path needs, where they are missing. No symbolic link leads to one.
    package func makeDirectories(for relativePath: String) throws(OutputError) {
        _ = try place(of: relativePath, isMade: true)
    }

    /// The directory a file is in, and its name there.
    ///
    /// - Parameter isMade: Whether it is made where it is missing.
    private func place(
        of relativePath: String, isMade: Bool
    ) throws(OutputError) -> (directory: OpenDirectory, name: [UInt8]) {
        let checked = try relativePath.withBytes { (bytes) throws(OutputError) in try OutputPath(checking: bytes) }
        var obstacle: Int?
        do throws(SystemError) {
            let directory = try directory(of: relativePath, checked, isMade: isMade, &obstacle)
            return (directory, Array(relativePath.utf8.dropFirst(checked.nameStart)))
        } catch {
            throw .system(error)
        }
    }

    private static func open(_ name: [UInt8], in directory: OpenDirectory) throws(OutputError) -> Descriptor {
        let flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY
        let opened = name.withUnsafeBytes { name in
            withCString(name) { cplatform_openat(directory.descriptor.rawValue, $0, flags, 0) }
        }
        do throws(SystemError) {
            let file = try Descriptor.adopt(opened, "openat")
            if cplatform_regular_size(file.rawValue) >= 0 { return file }
        } catch {
            throw .system(error)
        }
        throw .notARegularFile
    }
}
