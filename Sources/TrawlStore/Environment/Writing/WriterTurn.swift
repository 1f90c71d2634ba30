import CTrawlBlob
import CTrawlLMDB
import Glibc
import Synchronization
import TrawlHTTP
import TrawlPlatform

/// Whose turn it is to write, over all processes: the file `writer`, a mutex that all of them map.
///
/// LMDB's own lock cannot be waited for with a bound, and a process may be stopped (SIGSTOP, a debugger) while it has
/// it. So everybody takes this one first, and waits only so long: then nobody waits for LMDB's. What it says decides
/// only who writes next; LMDB's lock keeps writers apart, also where this file is lost or cannot be made.
///
/// `@unchecked Sendable`: the mapping stays where it is until `deinit`; it is touched by atomic functions and those of
/// the mutex only.
final class WriterTurn: @unchecked Sendable {
    static let name = "writer"
    /// Its last letter counts the versions of the file.
    static let magic: UInt64 = 0x316e_7275_7472_7774
    private static let size = 4096

    /// Magic, size of the mutex, process whose turn it is; the mutex begins at the second line of 64 bytes.
    private let words: UnsafeMutablePointer<UInt64>?
    /// Whether this process begins no write for now.
    private let isHeldBack = Atomic<Bool>(false)
    /// Whether a thread of this process waits for the turn, or has it without having looked at `isHeldBack` since.
    private let hasWaiter = Atomic<Bool>(false)

    /// Opens the file of a directory, or makes it. For users of its environment.
    init(in directory: String) {
        let path = directory + "/" + Self.name
        var found = Self.open(path)
        if found == nil {
            Self.create(in: directory)
            found = Self.open(path)
        }
        words = found
    }

    deinit {
        if let words { _ = cblob_unmap(words, Self.size) }
    }

    private static func mutex(_ words: UnsafeMutablePointer<UInt64>) -> UnsafeMutableRawPointer {
        UnsafeMutableRawPointer(words + 8)
    }

    private static func open(_ path: String) -> UnsafeMutablePointer<UInt64>? {
        let file = cblob_openat(AT_FDCWD, path, O_RDWR | O_NOFOLLOW | O_NONBLOCK, 0)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var (length, changed, links): (Int64, Int64, Int64) = (0, 0, 0)
        guard cblob_status(file, &length, &changed, &links) == 0, length == Int64(size) else { return nil }
        var address: UnsafeMutableRawPointer?
        guard cblob_map(file, size, &address) == 0, let address else { return nil }
        let words = address.assumingMemoryBound(to: UInt64.self)
        guard words[0] == magic, words[1] == UInt64(clmdb_turn_size()) else {
            _ = cblob_unmap(address, size)
            return nil
        }
        return words
    }

    /// Puts a new file in the place of whatever is there. Its space is reserved: a hole could not be filled on a full
    /// disk.
    private static func create(in directory: String) {
        var address: UnsafeMutableRawPointer?
        guard let fresh = try? FreshFile(name, in: directory), cblob_reserve(fresh.file.rawValue, Int64(size)) == 0,
            cblob_map(fresh.file.rawValue, size, &address) == 0, let address
        else { return }
        defer { _ = cblob_unmap(address, size) }
        let words = address.assumingMemoryBound(to: UInt64.self)
        guard clmdb_turn_make(mutex(words)) == 0 else { return }
        words[0] = magic
        words[1] = UInt64(clmdb_turn_size())
        do {
            try fresh.publish()
        } catch {
            // Of two processes that come at once the first has its way, unless what is there is of no use.
            guard error.errno == EEXIST else { return }
            if let other = open(directory + "/" + name) {
                _ = cblob_unmap(other, size)
            } else {
                try? fresh.replace()
            }
        }
    }

    /// Takes the file away, for who has the environment to itself: the system may have gone down while a turn was
    /// taken.
    static func remove(in directory: String) {
        unlink(directory + "/" + name)
    }

    /// Waits for the turn, and before that as long until this process is held back no more. A negative time does not
    /// wait. With the environment's writing mutex: one thread at a time.
    ///
    /// - Returns: False when it did not come. Otherwise `give` follows, on the same thread.
    func take(within patience: Duration) -> Bool {
        // Looks are counted: the time for which the process is stopped is none.
        for _ in 0...max(0, patience.clampedNanoseconds / 1_000_000) {
            if let isTaken = takeUnlessHeldBack(within: patience) { return isTaken }
            MonotonicClock.sleep(for: .milliseconds(1))
        }
        return false
    }

    /// - Returns: `nil` when this process is held back.
    private func takeUnlessHeldBack(within patience: Duration) -> Bool? {
        hasWaiter.store(true, ordering: .sequentiallyConsistent)
        defer { hasWaiter.store(false, ordering: .sequentiallyConsistent) }
        if isHeldBack.load(ordering: .sequentiallyConsistent) { return nil }
        guard lock(within: patience) else { return false }
        // It may be since.
        guard isHeldBack.load(ordering: .sequentiallyConsistent) else { return true }
        give()
        return nil
    }

    /// Whether a thread of this process waits for the turn.
    var isAwaited: Bool { hasWaiter.load(ordering: .sequentiallyConsistent) }

    /// Runs `body` when it is the turn of nobody else, or when that did not come in time; from then on this process has
    /// no turn before `goOn`, so that it can be stopped. On a thread that has none.
    func holdBack(within patience: Duration, _ body: () -> Void) {
        isHeldBack.store(true, ordering: .sequentiallyConsistent)
        let isTaken = lock(within: patience)
        body()
        if isTaken { give() }
        // Who waited for it may have it now, and gives it back at once.
        let end = MonotonicClock.now().advanced(by: patience)
        while isAwaited, MonotonicClock.now() < end { MonotonicClock.sleep(for: .microseconds(100)) }
    }

    /// This process may have turns again.
    func goOn() { isHeldBack.store(false, ordering: .sequentiallyConsistent) }

    private func lock(within patience: Duration) -> Bool {
        guard let words else { return true }
        let (seconds, attoseconds) = patience.components
        let code = clmdb_turn_take(Self.mutex(words), seconds * 1_000_000_000 + attoseconds / 1_000_000_000)
        // Anything else is damage, and LMDB's lock is still there.
        if code == 0 { storeRelease(words + 2, UInt64(UInt32(bitPattern: getpid()))) }
        return code != -ETIMEDOUT
    }

    /// Lets the next one.
    func give() {
        guard let words else { return }
        storeRelease(words + 2, 0)
        _ = clmdb_turn_give(Self.mutex(words))
    }

    /// The process whose turn it is; 0 when none is known.
    var holder: Int32 { words.map { Int32(truncatingIfNeeded: loadRelaxed($0 + 2)) } ?? 0 }
}
