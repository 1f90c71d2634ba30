import TrawlCoding
import TrawlProtocol

/// Bodies that are kept in memory, of which there is so much for all workers.
///
/// What fits a frame has its room. Before a body gets longer the transfer asks, and rests until it may: for all of the
/// body where its length is known, else for some more than is needed. libcurl keeps what it has read meanwhile and
/// reads no more, so that the server is held up too.
extension Transfer {
    /// Coded bytes that are decoded at a time at most: deflate makes a thousand bytes of one.
    private static let longestSlice = 1024
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

    /// How many coded bytes are decoded at a time when what they unfold to is to fit what room there is: a few of a
    /// body that unfolds to much.
    func meteredSlice(atMost longest: Int) -> Int {
        guard room < .max, store.isMemory, let decoder else { return longest }
        let ratio = decoder.encodedBytes == 0 ? 64 : max(1, decoder.decodedBytes / decoder.encodedBytes)
        let left = Int(clamping: room - min(room, store.length))
        return min(longest, Self.longestSlice, max(left / ratio, 256))
    }

    /// There is room for so many more bytes.
    func widen(by bytes: UInt32) {
        let (sum, overflow) = room.addingReportingOverflow(UInt64(bytes))
        room = overflow ? .max : sum
        if !awaitsMemory { pump() }
    }
}
