import CTrawlPlatform
import Glibc

extension OutputRoot {
    /// How many directories deep a sweep goes; each holds a descriptor meanwhile.
    private static let deepestSweep = 200
    /// Seconds without a write after which a file may be swept.
    private static let leastAge = 3600

    /// Removes what killed processes left: files with exactly the temporary name of an unfinished file that nobody
    /// holds locked, and that nobody has written to for an hour: many file systems that other machines share do not
    /// show the locks of those. There are none where `hasUnnamedFiles` is true, but for a process killed while it
    /// replaced a file.
    ///
    /// No symbolic link is followed, and no other file system entered that is mounted beneath. What cannot be read,
    /// opened or locked is left alone.
    /// - Returns: How many files were removed.
    @discardableResult
    package func sweepParts() -> Int {
        guard let device = try? identity().device, let now = timeOfFiles() else { return 0 }
        let copy = ".".utf8CString.withUnsafeBufferPointer { name in
            name.baseAddress.map { cplatform_openat(root.descriptor.rawValue, $0, O_RDONLY | O_DIRECTORY, 0) }
        }
        return Self.sweep(copy ?? -1, on: device, unwrittenSince: now - Self.leastAge, depth: 0)
    }

    /// What time it is by the clock that says here when a file was written, which may be a server's: that of a file
    /// made for it, in seconds. Nil where none can be made.
    private func timeOfFiles() -> Int? {
        guard let part = try? PartFile.create(in: root, path: "time", nameStart: 0, mode: 0o600) else { return nil }
        defer { part.discard() }
        var info = stat()
        return fstat(part.rawValue, &info) == 0 ? info.st_mtim.tv_sec : nil
    }

    /// Sweeps an open directory of a file system, and closes it.
    ///
    /// - Parameter limit: The time, by the clock of files, of the last write to what may be swept.
    static func sweep(_ directory: Int32, on device: UInt64, unwrittenSince limit: Int, depth: Int) -> Int {
        guard directory >= 0 else { return 0 }
        var info = stat()
        guard fstat(directory, &info) == 0, UInt64(info.st_dev) == device else {
            _ = cplatform_close(directory)
            return 0
        }
        guard let stream = fdopendir(directory) else {
            _ = cplatform_close(directory)
            return 0
        }
        defer { closedir(stream) }
        var removed = 0
        while let entry = readdir(stream) {
            let kind = Int32(entry.pointee.d_type)
            withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                let name = UnsafeRawBufferPointer(rebasing: bytes.prefix { $0 != 0 })
                if PartName.matches(name), kind == DT_REG || kind == DT_UNKNOWN {
                    if removePart(name, in: directory, unwrittenSince: limit) { removed += 1 }
                } else if kind == DT_DIR || kind == DT_UNKNOWN, depth < deepestSweep, !isDots(name) {
                    let flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW
                    let opened = withCString(name) { cplatform_openat(directory, $0, flags, 0) }
                    removed += sweep(opened, on: device, unwrittenSince: limit, depth: depth + 1)
                }
            }
        }
        return removed
    }

    private static func removePart(
        _ name: UnsafeRawBufferPointer, in directory: Int32, unwrittenSince limit: Int
    ) -> Bool {
        // For writing: network file systems lock no other way.
        let flags = O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY
        var info = stat()
        guard
            let file = try? Descriptor.adopt(withCString(name) { cplatform_openat(directory, $0, flags, 0) }, "openat"),
            cplatform_regular_size(file.rawValue) >= 0, FileLock.take(file.rawValue) == 0,
            fstat(file.rawValue, &info) == 0, info.st_mtim.tv_sec <= limit
        else { return false }
        // If it got its own name meanwhile, there is nothing under this one any more.
        return withCString(name) { cplatform_unlinkat(directory, $0) } == 0
    }

    private static func isDots(_ name: UnsafeRawBufferPointer) -> Bool {
        name.count <= 2 && name.allSatisfy { $0 == UInt8(ascii: ".") }
    }
}
