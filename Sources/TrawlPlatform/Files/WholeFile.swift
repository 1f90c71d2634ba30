import CPlatform
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
    /// - Throws: What the system says; then nothing has changed, but for what a device or pipe took.
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
        let place = try Self.place(of: path)
        let slash = place.utf8.lastIndex(of: UInt8(ascii: "/"))
        let parent = slash.map { String(place[...$0]) } ?? "."
        let opened = cplatform_openat(AT_FDCWD, parent, O_RDONLY | O_DIRECTORY, 0)
        let directory = OpenDirectory(try Descriptor.adopt(opened, "openat"))
        let nameStart = slash.map { place.utf8.distance(from: place.utf8.startIndex, to: $0) + 1 } ?? 0
        // Let go of, it is discarded.
        let part = try PartFile.create(in: directory, path: place, nameStart: nameStart, mode: mode)
        try bytes.span.withUnsafeBytes { (bytes) throws(SystemError) in try part.write(bytes) }
        try part.publish(replacing: true, keepsMode: false, sync: syncs)
    }
}
