import CTrawlLMDB
import Glibc
import TrawlHTTP
import TrawlPlatform

/// The file `environment.lock` beside LMDB's two: it serialises opening, closing and rebuilding over all processes,
/// knows whether others have the environment open, and keeps what the next opener must know.
///
/// Byte 0 is locked while files are opened, closed or replaced; byte 1 is shared by all that have them open. The locks
/// belong to the open file, so they go with the process however it ends.
final class GuardFile: Sendable {
    static let name = "environment.lock"
    private static let mutexByte: Int64 = 0
    private static let usersByte: Int64 = 1

    private let descriptor: Descriptor
    private let path: String
    private let patience: Duration

    /// - Parameter patience: How long others may take that open, close or replace the files.
    init(directory: String, mode: mode_t, patience: Duration) throws(StoreError) {
        path = directory + "/" + GuardFile.name
        self.patience = patience
        let number = Glibc.open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, mode)
        guard number >= 0 else {
            switch errno {
            case ELOOP, EISDIR, ENXIO: throw .unusable(path: path, reason: "something else has that name")
            default: throw .last("open \(path)")
            }
        }
        do {
            descriptor = try BlobDirectory.adopt(number, "open")
        } catch {
            throw .from(error)
        }
    }

    /// Runs `body` while no other process opens, closes or replaces the files.
    ///
    /// Waits for those that do, but not for ever: one may be stopped in the middle of it.
    func exclusively<Value>(_ body: () throws(StoreError) -> Value) throws(StoreError) -> Value {
        try lockPatiently()
        defer { try? lock(GuardFile.mutexByte, 0, wait: false) }
        return try body()
    }

    /// Whether this is still the file of that name; another is made when somebody removed the directory.
    func isCurrent() throws(StoreError) -> Bool {
        try FileFacts.of(path, followingLinks: false)?.identity == FileFacts.of(descriptor.rawValue).identity
    }

    /// Becomes a user, and says whether there is no other. Inside `exclusively`.
    func join() throws(StoreError) -> Bool {
        let isAlone = try isLast()
        try lock(GuardFile.usersByte, 1, wait: true)
        return isAlone
    }

    /// Whether there is no other user. Inside `exclusively`.
    func isLast() throws(StoreError) -> Bool {
        let result = clmdb_lock_byte(descriptor.rawValue, GuardFile.usersByte, 2, 0)
        if result == -EAGAIN || result == -EACCES { return false }
        guard result == 0 else { throw .system(SystemError(errno: -result, call: "fcntl \(path)")) }
        // It was only a question: nobody can come in between while the other byte is ours.
        try lock(GuardFile.usersByte, 1, wait: false)
        return true
    }

    private func lockPatiently() throws(StoreError) {
        var (pause, waited) = (Duration.microseconds(100), Duration.zero)
        while true {
            let result = clmdb_lock_byte(descriptor.rawValue, GuardFile.mutexByte, 2, 0)
            if result == 0 { return }
            guard result == -EAGAIN || result == -EACCES || result == -EINTR else {
                throw .system(SystemError(errno: -result, call: "fcntl \(path)"))
            }
            // Pauses are counted: the time for which this process is stopped, or has no processor, is none.
            if waited >= patience { throw .locked(path: path) }
            MonotonicClock.sleep(for: pause)
            waited += pause
            pause = min(pause * 2, .milliseconds(10))
        }
    }

    private func lock(_ byte: Int64, _ kind: Int32, wait: Bool) throws(StoreError) {
        while true {
            let result = clmdb_lock_byte(descriptor.rawValue, byte, kind, wait ? 1 : 0)
            if result == 0 { return }
            if result != -EINTR { throw .system(SystemError(errno: -result, call: "fcntl \(path)")) }
        }
    }

    /// What the last opener or closer wrote; `nil` when there is nothing sensible.
    func note() -> GuardNote? {
        withUnsafeTemporaryAllocation(byteCount: GuardNote.size, alignment: 8) { buffer in
            let count = pread(descriptor.rawValue, buffer.baseAddress, buffer.count, 0)
            guard count > 0 else { return nil }
            return GuardNote(text: String(decoding: buffer.prefix(count), as: UTF8.self))
        }
    }

    /// Replaces the note.
    func write(_ note: GuardNote) throws(StoreError) {
        var text = Array(note.text.utf8)
        precondition(text.count <= GuardNote.size, "a note has a bound")
        text.append(contentsOf: repeatElement(UInt8(ascii: " "), count: GuardNote.size - text.count - 1))
        text.append(UInt8(ascii: "\n"))
        guard pwrite(descriptor.rawValue, text, text.count, 0) == text.count else { throw .last("write \(path)") }
    }

    /// A process that is just being started has copies of all descriptors: closing ours would leave it a user.
    deinit {
        // In a copy of the process made by fork the lock is not ours to give up.
        if !ForkMark.isCopy { _ = clmdb_lock_byte(descriptor.rawValue, GuardFile.usersByte, 0, 0) }
    }
}

/// What one opener of an environment leaves for the next.
struct GuardNote: Equatable, Sendable {
    /// Longer than any note, so that one write replaces another whole.
    static let size = 512

    /// What is known of a data file whose structure was checked.
    struct Stamp: Equatable, Sendable {
        let file: UInt64
        let size: Int64
        let seconds: Int64
        let nanoseconds: Int64

        init(_ facts: FileFacts) {
            file = facts.identity.inode
            size = facts.size
            seconds = facts.modifiedSeconds
            nanoseconds = facts.modifiedNanoseconds
        }

        init(file: UInt64, size: Int64, seconds: Int64, nanoseconds: Int64) {
            self.file = file
            self.size = size
            self.seconds = seconds
            self.nanoseconds = nanoseconds
        }
    }

    /// The boot in which the files were last opened.
    var boot: String
    /// The file whose structure was checked, as it was when that was noted.
    var verified: Stamp?

    var text: String {
        var text = "trawl-environment 1\nboot \(boot)\n"
        if let verified {
            text += "verified \(verified.file) \(verified.size) \(verified.seconds) \(verified.nanoseconds)\n"
        }
        return text
    }

    init(boot: String, verified: Stamp?) {
        self.boot = boot
        self.verified = verified
    }

    init?(text: String) {
        let lines = text.split(separator: "\n").map { $0.split(separator: " ") }
        guard lines.count >= 2, lines[0] == ["trawl-environment", "1"], lines[1].count == 2, lines[1][0] == "boot"
        else {
            return nil
        }
        boot = String(lines[1][1])
        guard lines.count > 2, lines[2].count == 5, lines[2][0] == "verified", let file = UInt64(lines[2][1]),
            let size = Int64(lines[2][2]), let seconds = Int64(lines[2][3]), let nanoseconds = Int64(lines[2][4])
        else { return }
        verified = Stamp(file: file, size: size, seconds: seconds, nanoseconds: nanoseconds)
    }

    /// A name that no boot and no other process has. The name serves to know that a boot is the same, so who opens files
    /// alone takes them for those of another.
    private static let unknownBoot = "unknown-" + String(UInt64.random(in: .min ... .max), radix: 16)

    /// The kernel's name for this boot, or where it does not say (proc(5), `subset=pid`) one of this process.
    static func currentBoot(_ path: String = "/proc/sys/kernel/random/boot_id") -> String {
        let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return unknownBoot }
        defer { Glibc.close(descriptor) }
        return withUnsafeTemporaryAllocation(byteCount: 64, alignment: 1) { buffer in
            let count = read(descriptor, buffer.baseAddress, buffer.count)
            guard count > 0 else { return unknownBoot }
            return String(decoding: buffer.prefix(count).prefix { $0 > 32 }, as: UTF8.self)
        }
    }
}

extension EnvironmentSettings {
    /// The boot these settings name, or the kernel's.
    func boot() -> String {
        bootIdentity ?? GuardNote.currentBoot()
    }
}
