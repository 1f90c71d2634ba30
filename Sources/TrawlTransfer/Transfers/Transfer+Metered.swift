import TrawlCoding
import TrawlProtocol

/// Bodies that are kept in memory, of which there is so much for all workers.
///
/// What fits a frame has its room. Before a body gets longer the transfer asks, and rests until it may: for all of the
/// body where its length is known, else for some more than is needed. libcurl keeps what it has read meanwhile and
/// reads no more, so that the server is held up too.
extension Transfer {
    /// What a step of decoding brings at most.
    private static let step = 128 << 10
    /// The most that is asked for beyond what is needed, for a body of unknown length.
    private static let mostAhead: UInt64 = 4 << 20

    /// Whether so many bytes more may be kept; if not, the coordinator has been asked, or `failure` says that they
    /// never may.
    func mayKeep(_ count: Int) -> Bool {
        let need = store.length + UInt64(count)
        // What comes is what is kept, where no coding has to be undone.
        let whole = decoder == nil ? store.expectedLength : nil
        var total = max(need, whole ?? 0)
        guard total > room, store.isMemory else { return true }
        let limit = profile.profile.memoryBytes
        guard total <= limit else {
            failure = BodyStore.tooLarge(limit)
            return false
        }
        if whole == nil { total = min(limit, max(need, store.length + min(store.length, Self.mostAhead))) }
        wanted = total
        output.send(
            .wants(
                lease: lease.id, MemoryWish(holding: store.length, total: total, isWhole: whole != nil)))
        rest()
        return false
    }

    /// Whether it waits for room.
    var awaitsMemory: Bool { wanted > room }

    /// Whether what is decoded next may be kept. How much that is shows when it is there.
    var mayDecode: Bool { decoder == nil || store.length < room || mayKeep(1) }

    /// What the next step of decoding may bring: what there is room for, and a byte more, which shows that more comes.
    var longestStep: Int {
        guard room < .max, store.isMemory else { return Self.step }
        return Int(min(UInt64(Self.step), room - min(room, store.length) + 1))
    }

    /// There is room for so many more bytes.
    func widen(by bytes: UInt32) {
        let (sum, overflow) = room.addingReportingOverflow(UInt64(bytes))
        room = overflow ? .max : sum
        if !awaitsMemory { pump() }
    }
}
