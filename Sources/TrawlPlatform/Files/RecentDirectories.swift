import CTrawlPlatform
import Glibc

/// A directory kept open, shared by the files being written in it.
final class OpenDirectory: Sendable {
    let descriptor: Descriptor

    init(_ descriptor: consuming Descriptor) {
        self.descriptor = descriptor
    }

    /// Opens a directory of the user's choice, to make names in it: a descriptor, or `-errno`. Where it may not be
    /// read, a place (O_PATH) is enough for that.
    static func open(_ path: UnsafePointer<CChar>) -> Int32 {
        let opened = cplatform_openat(AT_FDCWD, path, O_RDONLY | O_DIRECTORY, 0)
        return opened == -EACCES ? cplatform_open_place(path) : opened
    }
}

/// The sub-directories used last, kept open.
///
/// A table of pairs: a path has two places, chosen by its hash; of the two the one used longer ago is given up.
package struct RecentDirectories {
    /// One of so many descriptors that a process may have is for a directory here.
    package static let share = 8
    /// The most directories that are kept.
    package static let greatestCapacity = 256

    private struct Entry {
        let hash: UInt64
        let path: [UInt8]
        let directory: OpenDirectory
    }

    private var places: [Entry?]
    private let mask: Int

    /// Room for at most `capacity` directories, a power of two of at least 2.
    init(capacity: Int) {
        places = [Entry?](repeating: nil, count: capacity)
        mask = capacity - 2
    }

    /// An eighth of the descriptors this process may have: 16 to 256.
    static var usualCapacity: Int {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return 16 }
        var capacity = 16
        while capacity < greatestCapacity, capacity * 2 <= Int(clamping: limit.rlim_cur) / share { capacity *= 2 }
        return capacity
    }

    mutating func find(_ path: UnsafeRawBufferPointer) -> OpenDirectory? {
        let hash = Self.hash(path)
        let place = Int(truncatingIfNeeded: hash) & mask
        if Self.holds(places[place], hash, path) { return places[place]?.directory }
        guard Self.holds(places[place + 1], hash, path) else { return nil }
        // The first of a pair is the one used last.
        places.swapAt(place, place + 1)
        return places[place]?.directory
    }

    mutating func insert(_ path: UnsafeRawBufferPointer, _ directory: OpenDirectory) {
        let hash = Self.hash(path)
        let place = Int(truncatingIfNeeded: hash) & mask
        places[place + 1] = places[place]
        places[place] = Entry(hash: hash, path: Array(path), directory: directory)
    }

    mutating func removeAll() {
        for place in places.indices { places[place] = nil }
    }

    @inline(__always)
    private static func holds(_ entry: Entry?, _ hash: UInt64, _ path: UnsafeRawBufferPointer) -> Bool {
        guard let entry, entry.hash == hash, entry.path.count == path.count else { return false }
        return entry.path.withUnsafeBytes { known in
            guard let known = known.baseAddress, let path = path.baseAddress else { return false }
            return memcmp(known, path, entry.path.count) == 0
        }
    }

    /// FNV-1a over words of eight bytes, mixed so that the low bits depend on all.
    private static func hash(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325 ^ UInt64(bytes.count)
        var offset = 0
        while offset + 8 <= bytes.count {
            let word = bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
            hash = (hash ^ word) &* 0x9e37_79b9_7f4a_7c15
            hash ^= hash >> 29
            offset += 8
        }
        while offset < bytes.count {
            hash = (hash ^ UInt64(bytes[offset])) &* 0x0000_0100_0000_01b3
            offset += 1
        }
        hash = (hash ^ hash >> 32) &* 0x9e37_79b9_7f4a_7c15
        return hash ^ hash >> 29
    }
}
