import CTrawlBlob
import Glibc
import TrawlPlatform

/// When each record was last used, in memory that all processes of a store share: the file `uses`.
///
/// It begins with a counter, the clock: each record stored and each use is one tick of it. Behind it come slots of one
/// word each, the tick of the last use of the record that has the slot. So a hit costs an addition and a store, and is
/// seen by all processes at once; nothing is written to the environment. What a slot says decides only what is evicted
/// next, so nothing depends on its being right: a file that is lost or damaged is made anew, and a store that cannot
/// have one evicts in the order of storing.
///
/// The rest of its head says when keys were made invalid, `UseClock+Removals.swift`.
///
/// `@unchecked Sendable`: the mapping stays where it is until `deinit`; its words are changed by atomic operations
/// only.
final class UseClock: @unchecked Sendable {
    private static let name = "uses"
    /// Its last letter counts the versions of the file.
    static let magic: UInt64 = 0x3273_6573_7574_7274
    /// Bytes before the slots: magic, number of slots, clock, times of removals.
    static let headSize = 64 << 10
    /// More uses than there can be between two changes.
    private static let mostUses: UInt64 = 1 << 48

    let words: UnsafeMutablePointer<UInt64>?
    private let size: Int
    /// One less than the number of slots, which is a power of two.
    private let mask: UInt64

    /// Opens the file of a directory, or makes it.
    ///
    /// - Parameter budget: Of the cache. A slot for each KiB of it is more than there are records, unless these are
    ///   tiny; then two may share a slot, and the use of one counts for the other as well.
    init(in directory: String, budget: UInt64) {
        let path = directory + "/" + Self.name
        var slots: UInt64 = 1 << 12
        while slots < 1 << 24, slots < budget >> 10 { slots <<= 1 }
        var found = Self.open(path)
        if found == nil {
            Self.create(path, in: directory, slots: slots)
            found = Self.open(path)
        }
        words = found?.words
        size = found?.size ?? 0
        mask = found?.mask ?? 0
    }

    deinit {
        if let words { _ = cblob_unmap(words, size) }
    }

    private static func open(_ path: String) -> (words: UnsafeMutablePointer<UInt64>, size: Int, mask: UInt64)? {
        let file = cblob_openat(AT_FDCWD, path, O_RDWR | O_NOFOLLOW | O_NONBLOCK, 0)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var (length, changed, links): (Int64, Int64, Int64) = (0, 0, 0)
        guard cblob_status(file, &length, &changed, &links) == 0, length > Int64(headSize), length < 1 << 30 else {
            return nil
        }
        let size = Int(length)
        var address: UnsafeMutableRawPointer?
        guard cblob_map(file, size, &address) == 0, let address else { return nil }
        let words = address.assumingMemoryBound(to: UInt64.self)
        let slots = words[1]
        // A file cut short would end the process that reads beyond its end.
        guard words[0] == magic, slots > 0, slots & (slots - 1) == 0, slots < 1 << 27,
            size == headSize + 8 * Int(slots)
        else {
            _ = cblob_unmap(address, size)
            return nil
        }
        return (words, size, slots - 1)
    }

    /// Puts a new file in the place of whatever is there. Its space is reserved: a hole could not be filled on a full
    /// disk.
    private static func create(_ path: String, in directory: String, slots: UInt64) {
        var head: (UInt64, UInt64, UInt64) = (magic, slots, 0)
        guard let fresh = try? FreshFile(name, in: directory),
            cblob_reserve(fresh.file.rawValue, Int64(headSize) + 8 * Int64(slots)) == 0,
            pwrite(fresh.file.rawValue, &head, 24, 0) == 24
        else { return }
        do {
            try fresh.publish()
        } catch {
            // Of two processes that come at once the first has its way, unless what is there is of no use.
            if error.errno == EEXIST, open(path).map({ cblob_unmap($0.words, $0.size) }) == nil { try? fresh.replace() }
        }
    }

    /// Notes that the record of a slot is used now.
    @inline(__always)
    func use(_ slot: UInt64) {
        guard let words else { return }
        cblob_store(place(slot, words), cblob_increment(words + 2) &+ 1)
    }

    /// The tick of the last use of the record that has a slot; 0 when there was none.
    func last(_ slot: UInt64) -> UInt64 {
        words.map { cblob_load(place(slot, $0)) } ?? 0
    }

    /// Gives a slot to a record.
    func assign(_ slot: UInt64, last tick: UInt64) {
        if let words { cblob_store(place(slot, words), tick) }
    }

    /// The next tick, at least `least`.
    ///
    /// - Parameter least: At least 1.
    func tick(atLeast least: UInt64) -> UInt64 {
        guard let words else { return least }
        // So many uses between two changes there never were: the clock is damaged, and set back.
        let now = cblob_load(words + 2)
        if now > least, now - least > Self.mostUses { cblob_store(words + 2, least - 1) }
        cblob_raise(words + 2, least - 1)
        return cblob_increment(words + 2) &+ 1
    }

    /// What the clock shows.
    var now: UInt64 {
        words.map { cblob_load($0 + 2) } ?? 0
    }

    @inline(__always)
    private func place(_ slot: UInt64, _ words: UnsafeMutablePointer<UInt64>) -> UnsafeMutablePointer<UInt64> {
        words + Self.headSize / 8 + Int(slot & mask)
    }
}
