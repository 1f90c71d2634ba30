import CTrawlPlatform
import Glibc

/// Small files that are replaced as a whole, and unless said otherwise are their owner's alone: cookies, hosts, vaults.
package enum WholeFile {
    /// Whether a name stands for a file this process has open, to which nothing can be renamed.
    package static func standsForOpenFile(_ path: String) -> Bool {
        ["/dev/stdout", "/dev/stderr"].contains(path) || path.hasPrefix("/dev/fd/") || path.hasPrefix("/proc/")
    }

    /// Where the file is that a path names: where a link leads. A link somebody else made is not followed, and
    /// replaced: who may make names in a directory must not choose which other file is overwritten.
    ///
    /// - Throws: What the system says of a link that leads nowhere.
    package static func place(of path: String) throws(SystemError) -> String {
        var info = stat()
        guard lstat(path, &info) == 0, info.st_uid == geteuid() || info.st_uid == 0 else { return path }
        return try FileLink.target(of: path) ?? path
    }

    /// Writes a file that appears complete or not at all, in place of one that is there. Devices, pipes and
    /// terminals stay what they are, and are written to; a pipe is waited for until somebody reads it. What a killed
    /// process leaves of a file, if anything, is in nobody's way: see `PartFile`.
    ///
    /// - Parameters:
    ///   - mode: Who may read it, less the umask.
    ///   - syncs: Whether the content must survive a loss of power.
    /// - Throws: What the system says. Then nothing has changed, but for what a device or pipe took; with `syncs` the new
    ///   content may be in place when only the directory could not be synced.
    package static func write(
        _ bytes: [UInt8], to path: String, mode: UInt32 = 0o600, syncs: Bool = false
    ) throws(SystemError) {
        var info = stat()
        let exists = stat(path, &info) == 0
        if standsForOpenFile(path) || (exists && info.st_mode & S_IFMT != S_IFREG) {
            let opened = open(path, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOCTTY)
            guard opened >= 0 else { throw SystemError(errno: errno, call: "open") }
            let file = Descriptor(adopting: opened)
            try bytes.span.withUnsafeBytes { (bytes) throws(SystemError) in try file.writeAll(bytes) }
            return
        }
        try write(bytes, at: try Self.place(of: path), mode: mode, syncs: syncs) { (part) throws(SystemError) in
            try part.publish(replacing: true, keepsMode: false, sync: syncs)
        }
    }

    /// The same at the place of a regular file.
    ///
    /// - Parameter publish: Gives a complete part its name, in place of a file that has it.
    static func write(
        _ bytes: [UInt8], at place: String, mode: UInt32, syncs: Bool,
        publish: (PartFile) throws(SystemError) -> Void
    ) throws(SystemError) {
        // By bytes: a combining character behind the slash is one Character with it.
        let slash = place.utf8.lastIndex(of: UInt8(ascii: "/"))
        let parent = slash.map { String(decoding: place.utf8[...$0], as: UTF8.self) } ?? "."
        let nameStart = slash.map { place.utf8.distance(from: place.utf8.startIndex, to: $0) + 1 } ?? 0
        var opened = syncs ? cplatform_openat(AT_FDCWD, parent, O_RDONLY | O_DIRECTORY, 0) : -EACCES
        // A place is enough to make names in, and may be had where the directory may not be read.
        if opened == -EACCES { opened = cplatform_open_place(parent) }
        let directory = OpenDirectory(try Descriptor.adopt(opened, "open"))

        func make(isNamed: Bool) throws(SystemError) {
            // Let go of, it is discarded.
            let part = try PartFile.create(
                in: directory, path: place, nameStart: nameStart, mode: mode, isNamed: isNamed)
            try bytes.span.withUnsafeBytes { (bytes) throws(SystemError) in try part.write(bytes) }
            try publish(part)
        }
        do throws(SystemError) {
            try make(isNamed: false)
        } catch {
            // A file without a name gets one by a hard link, which the file system may not have, and which takes a
            // privilege or /proc (linkat(2), AT_EMPTY_PATH). A rename takes neither.
            guard error.call == PartFile.linkCall.description else { throw error }
            try make(isNamed: true)
        }
    }
}
