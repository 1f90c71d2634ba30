import CTrawlPlatform
import Glibc

extension PartFile {
    /// Numbers tried one after the other before larger steps are taken.
    private static let linearTries = 16
    /// Names tried before a file is given up.
    private static let mostTries = 100_000
    /// The longest file that is compared with another.
    private static let longestCompared: Int64 = 256 << 20
    /// The call of the error when a name could not be given.
    static let linkCall: StaticString = "link"

    /// Gives the file its own name; it appears there complete or not at all.
    ///
    /// - Parameters:
    ///   - replacing: Whether a file of that name, or a link, may be replaced; if not and there is one, or there is
    ///     something else, a pipe or a device, the error is `EEXIST`.
    ///   - adoptsIdentical: Whether a regular file of the same bytes, which may not be replaced, counts as this one.
    ///   - keepsMode: Whether it gets the permissions of the one it replaces, and as root its owner.
    ///   - sync: Whether content and name must survive a loss of power when this returns.
    /// - Throws: After an error nothing has appeared, except when syncing the directory failed. `publish` may be tried
    ///   again after `EEXIST`; otherwise discard.
    package func publish(
        replacing: Bool, adoptsIdentical: Bool = false, keepsMode: Bool = true, sync: Bool
    ) throws(SystemError) {
        try prepare(sync: sync)
        let result = path.withBytes { path in
            let name = UnsafeRawBufferPointer(rebasing: path[nameStart...])
            // What has a name already is renamed at once: not all file systems have a rename that does not replace, or
            // hard links.
            if !replacing || temporaryName == nil {
                let result = appear(as: name)
                guard result == -EEXIST, replacing else { return result }
            }
            guard isReplaceable(name) else { return -EEXIST }
            if keepsMode { keepMode(of: name) }
            return replace(name)
        }
        if result == -EEXIST, adoptsIdentical, try adopt(numbered(0), sync: sync) { return try finish(sync: sync) }
        _ = try check(result, Self.linkCall)
        try finish(sync: sync)
    }

    /// Gives the file the first free name of `NAME`, `NAME.1`, `NAME.2`, …; ``path`` tells which.
    ///
    /// Names that would be too long are cut before the number. After some tries in a row the number is searched in
    /// growing steps, so that the cost of many files of one name grows with the logarithm of their number.
    /// ``isAdopted`` tells whether the file was there already.
    ///
    /// - Parameters:
    ///   - first: The first number tried; 0 is the name alone.
    ///   - adoptsIdentical: Whether a regular file of the same bytes under a name that is tried counts as this one.
    ///   - sync: Whether content and name must survive a loss of power when this returns.
    ///   - isReserved: Whether a path is another's, whatever is there: then it counts as taken.
    ///   - isDoubtful: Whether what is at a path may be another's by another name: then it never counts as this file.
    /// - Throws: `EEXIST` when no free name was found. After an error the file can only be discarded.
    package func publish(
        numberedFrom first: UInt32, adoptsIdentical: Bool, sync: Bool, unless isReserved: ((String) -> Bool)? = nil,
        notAdopting isDoubtful: ((String) -> Bool)? = nil
    ) throws(SystemError) {
        try prepare(sync: sync)
        var number = UInt64(first)
        var left = Self.linearTries
        for _ in 0..<Self.mostTries {
            var isNamed = false
            let isAnothers = try meets(number, isReserved)
            if !isAnothers {
                let result = try appear(numbered: number)
                isNamed = result != -EEXIST
                if isNamed {
                    _ = try check(result, Self.linkCall)
                } else if adoptsIdentical {
                    let mayBeAnothers = try meets(number, isDoubtful)
                    if !mayBeAnothers { isNamed = try adopt(numbered(number), sync: sync) }
                }
            }
            if !isNamed {
                number += 1
                left -= 1
                if left > 0 { continue }
                left = Self.linearTries
                let free = try numberAfterTaken(number, isReserved)
                // What is looked for was made late, so it has one of the last numbers.
                number = adoptsIdentical ? max(number, free - min(free, UInt64(left) - 1)) : free
                continue
            }
            path = try fullPath(numbered: number)
            return try finish(sync: sync)
        }
        throw SystemError(errno: EEXIST, call: "link")
    }

    /// Gives the file its name with one number, where nothing has that and nothing has to be cut for it; ``path`` tells
    /// it.
    ///
    /// - Parameters:
    ///   - number: 0 is the name alone.
    ///   - sync: Whether content and name must survive a loss of power when this returns.
    /// - Returns: Whether it has the name. Otherwise the file has none, and may still get one.
    package func publish(number: UInt32, sync: Bool) throws(SystemError) -> Bool {
        try prepare(sync: sync)
        guard number == 0 || fits(UInt64(number)) else { return false }
        let result = try appear(numbered: UInt64(number))
        if result == -EEXIST { return false }
        _ = try check(result, Self.linkCall)
        path = try fullPath(numbered: UInt64(number))
        try finish(sync: sync)
        return true
    }

    // MARK: - Appearing

    private func prepare(sync: Bool) throws(SystemError) {
        precondition(!isOver, "a file is published or discarded once")
        guard let number = file?.rawValue else { return }
        if sync { _ = try check(cplatform_fsync(number), "fsync") }
        // Network file systems report a full disk only on closing. The file stays open for its lock.
        if temporaryName != nil { try Descriptor.flush(number) }
    }

    private func finish(sync: Bool) throws(SystemError) {
        isOver = true
        file = nil
        guard sync else { return }
        let synced = cplatform_fsync(directory.descriptor.rawValue)
        // A directory that may not be read is open as a place alone (O_PATH), and cannot be synced.
        if synced != -EBADF { _ = try check(synced, "fsync") }
    }

    /// Makes the file appear under a name that is free: zero, or `-errno`.
    private func appear(as name: UnsafeRawBufferPointer) -> Int32 {
        let directory = directory.descriptor.rawValue
        guard let part = temporaryName else {
            return withCString(name) { UnnamedFile.link(rawValue, in: directory, as: $0) }
        }
        let result = part.withUnsafeBytes { part in
            withCString(part) { part in withCString(name) { Self.move(part, to: $0, in: directory) } }
        }
        if result == 0 { temporaryName = nil }
        return result
    }

    /// Gives a file a free name in place of the one it has: zero, or `-errno`.
    private static func move(
        _ part: UnsafePointer<CChar>, to name: UnsafePointer<CChar>, in directory: Int32
    ) -> Int32 {
        let renamed = cplatform_rename_new(directory, part, name)
        guard renamed == -EINVAL || renamed == -ENOSYS else { return renamed }
        // File systems without that flag: a hard link fails on an existing name just as well.
        let linked = cplatform_linkat(directory, part, name)
        switch linked {
        case 0: _ = cplatform_unlinkat(directory, part)
        // No hard links either: shared folders of virtual machines, and many a file system of a program's own (FUSE).
        case -EPERM, -EOPNOTSUPP, -ENOSYS, -EMLINK: return moveByClaim(part, to: name, in: directory)
        default: break
        }
        return linked
    }

    /// The same where a rename always replaces: an empty file of that name is made first, which fails on anything that
    /// exists, and is replaced. Who is killed between the two leaves it.
    static func moveByClaim(
        _ part: UnsafePointer<CChar>, to name: UnsafePointer<CChar>, in directory: Int32
    ) -> Int32 {
        let claim = cplatform_openat(directory, name, O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW, 0o600)
        if claim < 0 { return claim }
        _ = cplatform_close(claim)
        let renamed = cplatform_rename(directory, part, name)
        if renamed != 0 { _ = cplatform_unlinkat(directory, name) }
        return renamed
    }

    /// Makes the file appear under its name with a number, as above.
    private func appear(numbered number: UInt64) throws(SystemError) -> Int32 {
        // Mostly it is the name alone, as it stands in the path.
        if number == 0 { return path.withBytes { appear(as: UnsafeRawBufferPointer(rebasing: $0[nameStart...])) } }
        return try numbered(number).withUnsafeBytes { appear(as: $0) }
    }

    /// Whether this process may give files to others.
    private static let isRoot = geteuid() == 0

    /// Gives the file the permissions of the one it is to replace: who made that one secret meant its content. They are
    /// its owner's, so as root it gets that owner too. Where that is not allowed, nothing was promised.
    ///
    /// - Parameter added: Permissions that it gets beside those.
    func keepMode(of name: UnsafeRawBufferPointer, and added: UInt32 = 0) {
        var info = stat()
        let found = withCString(name) { fstatat(directory.descriptor.rawValue, $0, &info, 0) }
        guard found == 0, info.st_mode & S_IFMT == S_IFREG else { return }
        if Self.isRoot, info.st_uid != 0 || info.st_gid != 0 { _ = fchown(rawValue, info.st_uid, info.st_gid) }
        _ = cplatform_chmod_open(rawValue, info.st_mode & 0o777 | added)
    }

    /// Whether nothing would be lost but a file or a link: who waits at a pipe or socket would do so for ever. (Of a
    /// directory the system says so itself.)
    private func isReplaceable(_ name: UnsafeRawBufferPointer) -> Bool {
        var info = stat()
        let found = withCString(name) { fstatat(directory.descriptor.rawValue, $0, &info, AT_SYMLINK_NOFOLLOW) }
        return found != 0 || [S_IFREG, S_IFLNK, S_IFDIR].contains(info.st_mode & S_IFMT)
    }

    /// Puts the file in the place of another: zero, or `-errno`.
    private func replace(_ name: UnsafeRawBufferPointer) -> Int32 {
        let directory = directory.descriptor.rawValue
        if temporaryName == nil {
            // A link never replaces; a rename does.
            do throws(SystemError) {
                let part = try PartName.make(for: name)
                FileLock.take(rawValue)
                let linked = part.withUnsafeBytes { part in
                    withCString(part) { UnnamedFile.link(rawValue, in: directory, as: $0) }
                }
                if linked < 0 { return linked }
                temporaryName = part
            } catch {
                return -error.errno
            }
        }
        guard let part = temporaryName else { return -EINVAL }
        let renamed = part.withUnsafeBytes { part in
            withCString(part) { part in withCString(name) { cplatform_rename(directory, part, $0) } }
        }
        if renamed == 0 { temporaryName = nil }
        return renamed
    }

    // MARK: - Numbers

    /// The path with a number; 0 is the path as it is.
    private func fullPath(numbered number: UInt64) throws(SystemError) -> String {
        if number == 0 { return path }
        let name = try numbered(number)
        return path.withBytes { String(decoding: $0[..<nameStart] + name, as: UTF8.self) }
    }

    /// Whether the path with a number meets a condition; without one it does not.
    private func meets(_ number: UInt64, _ condition: ((String) -> Bool)?) throws(SystemError) -> Bool {
        guard let condition else { return false }
        return condition(try fullPath(numbered: number))
    }

    /// Whether the whole name has room for a number.
    private func fits(_ number: UInt64) -> Bool {
        path.utf8.count + ".\(number)".utf8.count <= min(nameStart + OutputPath.longestName, OutputPath.longestPath)
    }

    /// The name with a number, cut so that it fits; 0 is the name as it is.
    private func numbered(_ number: UInt64) throws(SystemError) -> [UInt8] {
        try path.withBytes { (path) throws(SystemError) in
            let name = UnsafeRawBufferPointer(rebasing: path[nameStart...])
            if number == 0 { return Array(name) }
            let room = min(OutputPath.longestName, OutputPath.longestPath - nameStart)
            let suffix = ".\(number)".utf8
            let kept = OutputPath.cut(name, to: room - suffix.count)
            guard kept > 0 else { throw SystemError(errno: ENAMETOOLONG, call: "link") }
            return Array(name[..<kept]) + suffix
        }
    }

    /// A number that is free while the one before it is taken, found in doubling steps and then between the last two.
    private func numberAfterTaken(
        _ first: UInt64, _ isReserved: ((String) -> Bool)?
    ) throws(SystemError) -> UInt64 {
        var (taken, free) = (first - 1, first)
        var step: UInt64 = 1
        while try isTaken(free, isReserved) {
            taken = free
            step *= 2
            free += step
        }
        while free - taken > 1 {
            let middle = taken + (free - taken) / 2
            if try isTaken(middle, isReserved) { taken = middle } else { free = middle }
        }
        return free
    }

    private func isTaken(_ number: UInt64, _ isReserved: ((String) -> Bool)?) throws(SystemError) -> Bool {
        if try meets(number, isReserved) { return true }
        let name = try numbered(number)
        let size = name.withUnsafeBytes { name in
            withCString(name) { cplatform_regular_size_at(directory.descriptor.rawValue, $0) }
        }
        if size >= 0 || size == -Int64(EINVAL) { return true }
        if size == -Int64(ENOENT) { return false }
        throw SystemError(errno: Int32(truncatingIfNeeded: -size), call: "fstatat")
    }

    // MARK: - Comparing

    /// Lets the file of a name count as this one when it has the same bytes.
    ///
    /// - Returns: Whether it has.
    private func adopt(_ name: [UInt8], sync: Bool) throws(SystemError) -> Bool {
        guard isIdentical(to: name) else { return false }
        removeTemporaryName()
        isAdopted = true
        // The directory and the file of before may not have been synced.
        if sync { try syncExisting(name) }
        return true
    }

    /// Whether a name leads to a regular file, not through a link, with the same bytes.
    private func isIdentical(to name: [UInt8]) -> Bool {
        let size = cplatform_regular_size(rawValue)
        let found = name.withUnsafeBytes { name in
            withCString(name) { cplatform_regular_size_at(directory.descriptor.rawValue, $0) }
        }
        guard size >= 0, found == size, size <= Self.longestCompared, let other = open(name),
            cplatform_regular_size(other.rawValue) == size
        else { return false }
        let block = 64 << 10
        return withUnsafeTemporaryAllocation(byteCount: 2 * block, alignment: 64) { buffer in
            let (ours, theirs) = (buffer[..<block], buffer[block...])
            var offset: Int64 = 0
            while offset < size {
                let count = Int(min(Int64(block), size - offset))
                guard Self.read(rawValue, UnsafeMutableRawBufferPointer(rebasing: ours.prefix(count)), at: offset),
                    Self.read(
                        other.rawValue, UnsafeMutableRawBufferPointer(rebasing: theirs.prefix(count)), at: offset),
                    ours.prefix(count).elementsEqual(theirs.prefix(count))
                else { return false }
                offset += Int64(count)
            }
            return true
        }
    }

    private func open(_ name: [UInt8]) -> Descriptor? {
        let flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY
        let opened = name.withUnsafeBytes { name in
            withCString(name) { cplatform_openat(directory.descriptor.rawValue, $0, flags, 0) }
        }
        return try? Descriptor.adopt(opened, "openat")
    }

    private func syncExisting(_ name: [UInt8]) throws(SystemError) {
        guard let file = open(name) else { throw SystemError(errno: ENOENT, call: "openat") }
        _ = try check(cplatform_fsync(file.rawValue), "fsync")
    }

    /// Reads all of a buffer; false when that cannot be.
    private static func read(_ file: Int32, _ buffer: UnsafeMutableRawBufferPointer, at offset: Int64) -> Bool {
        var done = 0
        while done < buffer.count {
            let count = cplatform_pread(
                file, buffer.baseAddress.map { $0 + done }, buffer.count - done, offset + Int64(done))
            if count == -Int64(EINTR) { continue }
            guard count > 0 else { return false }
            done += Int(count)
        }
        return true
    }
}
