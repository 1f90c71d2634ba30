import CTrawlPlatform
import Glibc

/// Unfinished files that are kept, to go on with later.
extension PartFile {
    /// Ends the writing and leaves what there is beside the destination, under a name that no sweep removes.
    ///
    /// It is locked as long as somebody, a worker for instance, has it open. For files with an absolute destination.
    ///
    /// - Returns: The absolute path.
    /// - Throws: After an error the file can only be discarded.
    package func keep() throws(SystemError) -> String {
        precondition(!isOver, "a file is published, kept or discarded once")
        // Who goes on with it goes by its length, which is of use only where all of it is there.
        try Descriptor.flush(rawValue)
        let name = try keptName()
        isOver = true
        isKept = true
        file = nil
        return path.withBytes { String(decoding: $0[..<nameStart] + name, as: UTF8.self) }
    }

    private func keptName() throws(SystemError) -> [UInt8] {
        if isKept, let temporaryName { return temporaryName }
        let name = try path.withBytes { (path) throws(SystemError) in
            try PartName.make(for: UnsafeRawBufferPointer(rebasing: path[nameStart...]), isKept: true)
        }
        // It is as secret as the whole; who goes on with it has to read and write it.
        path.withBytes { keepMode(of: UnsafeRawBufferPointer(rebasing: $0[nameStart...]), and: 0o600) }
        let directory = directory.descriptor.rawValue
        FileLock.take(rawValue)
        let result = name.withUnsafeBytes { name in
            withCString(name) { name in
                guard let part = temporaryName else { return UnnamedFile.link(rawValue, in: directory, as: name) }
                return part.withUnsafeBytes { part in withCString(part) { cplatform_rename(directory, $0, name) } }
            }
        }
        _ = try check(result, "link")
        temporaryName = name
        return name
    }

    /// Gives a kept file the name of an unfinished one, before other bytes take the place of its own: what was written
    /// down of those leads nowhere then.
    package func loseKeptName() throws(SystemError) {
        guard isKept, let kept = temporaryName else { return }
        let name = try path.withBytes { (path) throws(SystemError) in
            try PartName.make(for: UnsafeRawBufferPointer(rebasing: path[nameStart...]))
        }
        let directory = directory.descriptor.rawValue
        let renamed = kept.withUnsafeBytes { kept in
            withCString(kept) { kept in
                name.withUnsafeBytes { name in withCString(name) { cplatform_rename(directory, kept, $0) } }
            }
        }
        _ = try check(renamed, "rename")
        temporaryName = name
        isKept = false
    }

    /// Opens a kept file again, cut to a length, for a destination in the same directory. It stays where it is until it
    /// is published or discarded.
    ///
    /// - Parameters:
    ///   - path: As `keep` gave it.
    ///   - destination: Absolute.
    ///   - length: At least 1.
    ///   - patience: How long somebody is waited for who has it open.
    /// - Throws: `invalidPath` for a path that is no such file's, of another directory than the destination's, or of a
    ///   file that is shorter; `EBUSY` when somebody else has it open.
    package static func reopen(
        kept path: String, for destination: String, length: UInt64, patience: Duration = FileLock.moment
    ) throws(OutputError) -> PartFile {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")),
            let end = destination.utf8.lastIndex(of: UInt8(ascii: "/")),
            path.utf8[...slash].elementsEqual(destination.utf8[...end]),
            !path.utf8.contains(0), !destination.utf8.contains(0), length > 0
        else { throw .invalidPath }
        let name = Array(path.utf8[path.utf8.index(after: slash)...])
        guard name.withUnsafeBytes({ PartName.matches($0, isKept: true) }) else { throw .invalidPath }
        do throws(SystemError) {
            let parent = String(decoding: path.utf8[...slash], as: UTF8.self)
            let directory = OpenDirectory(try Descriptor.adopt(OpenDirectory.open(parent), "openat"))
            let flags = O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY
            let found = name.withUnsafeBytes { name in
                withCString(name) { cplatform_openat(directory.descriptor.rawValue, $0, flags, 0) }
            }
            let file = try Descriptor.adopt(found, "openat")
            try claim(file.rawValue, as: name, in: directory.descriptor.rawValue, within: patience)
            let size = cplatform_regular_size(file.rawValue)
            guard size >= 0, UInt64(size) >= length else { throw SystemError(errno: EINVAL, call: "fstat") }
            _ = try check(cplatform_truncate(file.rawValue, Int64(length)), "ftruncate")
            let part = PartFile(
                directory: directory, path: destination,
                nameStart: destination.utf8.distance(from: destination.utf8.startIndex, to: end) + 1, file: file,
                temporaryName: name)
            part.isKept = true
            return part
        } catch {
            if error.errno == EINVAL { throw .invalidPath }
            throw .system(error)
        }
    }

    /// Locks a kept file that was opened by its name, which has to lead to it still: who had it locked may have
    /// published it.
    ///
    /// - Throws: `EBUSY` when somebody has it open, or the name is another file's by now.
    static func claim(
        _ file: Int32, as name: [UInt8], in directory: Int32, within patience: Duration = FileLock.moment
    ) throws(SystemError) {
        // Where there are no locks it is taken without.
        if FileLock.take(file, within: patience) == EWOULDBLOCK {
            throw SystemError(errno: EBUSY, call: "flock")
        }
        var named = stat()
        let failure = name.withUnsafeBytes { name in
            withCString(name) { fstatat(directory, $0, &named, AT_SYMLINK_NOFOLLOW) == 0 ? 0 : errno }
        }
        if failure != 0 { throw SystemError(errno: failure, call: "fstatat") }
        var opened = stat()
        guard fstat(file, &opened) == 0 else { throw SystemError(errno: errno, call: "fstat") }
        guard opened.st_dev == named.st_dev, opened.st_ino == named.st_ino else {
            throw SystemError(errno: EBUSY, call: "flock")
        }
    }
}
