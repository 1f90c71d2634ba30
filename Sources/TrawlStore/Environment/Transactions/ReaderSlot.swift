import CTrawlLMDB
import Glibc

/// A read transaction that is kept for its next use, with what is known of the snapshot it had last.
///
/// One thread at a time has it: whoever brought `state` from `free` to `entering`, until it stores `free` again.
struct ReaderSlot {
    // Values of `state`.
    static let free: UInt64 = 0
    /// LMDB may be looking at its own mapping, so it must not be moved.
    static let entering: UInt64 = 1
    static let open: UInt64 = 2

    /// Shared by all threads; everything else is the owner's.
    var state: UInt64 = ReaderSlot.free
    /// The environment's generation when `opening` was taken; 0 is none.
    var generation: UInt64 = 0
    var opening: Unmanaged<Opening>?
    var transaction: OpaquePointer?
    var base: UnsafeRawPointer
    /// Pages of the mapping at `base`.
    var mappedPages: UInt64 = 0
    /// Pages of the snapshot that are in the file.
    var pages: UInt64 = 0
    /// The snapshot's number, and the one `main` and `tables` belong to.
    var snapshot: UInt64 = 0
    var known: UInt64 = 0
    var main: TreeRecord
    /// Records of tables, by index; `nil` when not looked up in this snapshot.
    var tables: UnsafeMutablePointer<TreeRecord?>
    /// A look at a meta page that was not certain.
    var seen: SnapshotMeta?
    /// The second of the coarse clock in which the files were last compared.
    var checked: Int = 0

    /// Bytes from one slot to the next, so that two threads never share a cache line.
    static let stride = 384
}

/// A fixed number of slots, one thread each.
///
/// `@unchecked Sendable`: the memory lives as long as the object, and each slot has one owner at a time.
final class ReaderSlots: @unchecked Sendable {
    static let count = 128
    private let memory: UnsafeMutableRawPointer
    /// What `base` and `main` are before there is a snapshot.
    private let zeroes: UnsafeMutableRawPointer

    init() {
        precondition(MemoryLayout<ReaderSlot>.size <= ReaderSlot.stride, "a slot has its own cache lines")
        memory = .allocate(byteCount: ReaderSlots.count * ReaderSlot.stride, alignment: 128)
        zeroes = .allocate(byteCount: PageLayout.size, alignment: 64)
        zeroes.initializeMemory(as: UInt8.self, repeating: 0, count: PageLayout.size)
        for index in 0..<ReaderSlots.count {
            let tables = UnsafeMutablePointer<TreeRecord?>.allocate(capacity: Table.limit)
            tables.initialize(repeating: nil, count: Table.limit)
            memory.advanced(by: index * ReaderSlot.stride).initializeMemory(
                as: ReaderSlot.self,
                to: ReaderSlot(base: UnsafeRawPointer(zeroes), main: TreeRecord(at: zeroes), tables: tables))
        }
    }

    deinit {
        for index in 0..<ReaderSlots.count { self[index].pointee.tables.deallocate() }
        memory.deallocate()
        zeroes.deallocate()
    }

    @inline(__always)
    subscript(index: Int) -> UnsafeMutablePointer<ReaderSlot> {
        memory.advanced(by: index &* ReaderSlot.stride).assumingMemoryBound(to: ReaderSlot.self)
    }

    /// The first field.
    @inline(__always)
    static func state(_ slot: UnsafeMutablePointer<ReaderSlot>) -> UnsafeMutablePointer<UInt64> {
        UnsafeMutableRawPointer(slot).assumingMemoryBound(to: UInt64.self)
    }

    /// A free slot, now the caller's and `entering`; `nil` when all are in use.
    @inline(__always)
    func take() -> UnsafeMutablePointer<ReaderSlot>? {
        // Stacks are far apart, so a thread mostly meets its own slot.
        var index = Int(truncatingIfNeeded: (UInt64(pthread_self()) &* 0x9E37_79B9_7F4A_7C15) >> 57)
        for _ in 0..<ReaderSlots.count {
            let slot = self[index]
            let state = ReaderSlots.state(slot)
            if loadRelaxed(state) == ReaderSlot.free, exchange(state, ReaderSlot.free, ReaderSlot.entering) {
                return slot
            }
            index = (index &+ 1) & (ReaderSlots.count - 1)
        }
        return nil
    }

    /// Ends the slot's transaction and lets go of its opening. By its owner.
    static func empty(_ slot: UnsafeMutablePointer<ReaderSlot>) {
        if let transaction = slot.pointee.transaction, !ForkMark.isCopy { mdb_txn_abort(transaction) }
        slot.pointee.transaction = nil
        slot.pointee.opening?.release()
        slot.pointee.opening = nil
        slot.pointee.generation = 0
        slot.pointee.known = 0
        slot.pointee.mappedPages = 0
    }
}
