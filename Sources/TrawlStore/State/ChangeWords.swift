import CTrawlBlob
import Glibc
import TrawlPlatform

/// How often something changed, in memory that all processes of a store share: the file `changes`.
///
/// A word for each `StateTopic`. It rises before a change is committed and again after, and never falls: who finds it
/// as it was before an earlier look may go by what that look has shown, and who finds it zero knows that nothing was
/// ever stored, without opening anything. A writer that dies between the commit and the second time leaves the word as
/// it is, so nobody goes by an earlier look for longer than a second.
///
/// `@unchecked Sendable`: the mapping stays where it is until `deinit`; its words are changed by atomic operations
/// only.
final class ChangeWords: @unchecked Sendable {
    private static let size = 4096

    private let words: UnsafeMutablePointer<UInt64>
    private let path: String
    private let identity: FileIdentity?

    /// Opens the file of a directory, or makes it; its space is reserved, since a hole could not be filled on a full
    /// disk.
    ///
    /// - Parameter hasData: Whether something may have been stored before the file was made.
    init(in directory: String, hasData: Bool) throws(StoreError) {
        path = directory + "/changes"
        let opened = cblob_openat(AT_FDCWD, path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0o600)
        if opened < 0 { throw .from(SystemError(errno: -opened, call: "open \(path)")) }
        defer { Glibc.close(opened) }
        var (length, changed, links): (Int64, Int64, Int64) = (0, 0, 0)
        guard cblob_status(opened, &length, &changed, &links) == 0 else {
            throw .unusable(path: path, reason: "is no file")
        }
        if length < Int64(Self.size) {
            let reserved = cblob_reserve(opened, Int64(Self.size))
            if reserved < 0 { throw .from(SystemError(errno: -reserved, call: "posix_fallocate")) }
        }
        identity = try FileFacts.of(opened).identity
        var address: UnsafeMutableRawPointer?
        let mapped = cblob_map(opened, Self.size, &address)
        guard mapped == 0, let address else { throw .from(SystemError(errno: -mapped, call: "mmap")) }
        words = address.assumingMemoryBound(to: UInt64.self)
        if hasData { for topic in StateTopic.allCases where self[topic] == 0 { raise(topic) } }
    }

    deinit { _ = cblob_unmap(words, Self.size) }

    /// The word of a topic.
    @inline(__always)
    subscript(topic: StateTopic) -> UInt64 { loadAcquire(words + topic.rawValue) }

    /// Says that something changes, or has changed.
    func raise(_ topic: StateTopic) { cblob_increment_ordered(words + topic.rawValue) }

    /// Whether the name still leads to this file.
    var isCurrent: Bool {
        guard let facts = try? FileFacts.of(path, followingLinks: false) else { return false }
        return facts.identity == identity
    }
}
