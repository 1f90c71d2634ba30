/// How many connections to an origin each worker may have, so that all of them together never have more than its limit.
///
/// Workers keep connections that carry nothing at the moment, and only they know when those are closed. So a share is
/// what a worker *may* have: it grows with the leases the worker is given, and shrinks to what the worker says is open.
/// A worker keeps two rules: a lease uses one connection at a time, and before it opens another one it closes one that
/// is idle, if there is one. From this follows that between two reports it has at most as many open as the later of the
/// first report's number and the most leases it held meanwhile. ``ended(_:at:open:)`` and ``told(_:by:open:)`` take
/// that as the share. A report that is on its way while the worker gets another lease counts that lease, and so is
/// never too low.
///
/// Origins without connections and without leases have no place here.
struct ConnectionShares: Sendable {
    private struct Share: Sendable {
        /// Leases it holds.
        var held: UInt16 = 0
        /// Connections it may have: at least one for each lease.
        var most: UInt16 = 0
        /// Idle connections it has been asked to close, and has said nothing about.
        var asked: UInt16 = 0
    }

    private struct Row: Sendable {
        var origin: OriginKey = 0
        var total: Int32 = 0
    }

    private static let none: Int32 = -1

    private let workers: Int
    /// The row of each origin.
    private var places: [Int32] = []
    private var rows: [Row] = []
    /// As many a row as there are workers.
    private var shares: [Share] = []
    private var freeRows: [Int32] = []
    /// Origins that came to have a row, and that lost theirs; who takes note of them takes them out. One that
    /// loses its row before that was never found.
    var found: [OriginKey] = []
    var forgotten: [OriginKey] = []

    /// No connections.
    init(workers: Int) {
        self.workers = workers
    }

    /// The row of an origin; nil while no worker has a share.
    func row(of origin: OriginKey) -> Int? {
        let index = Int(origin)
        guard index < places.count else { return nil }
        let place = places[index]
        return place == Self.none ? nil : Int(place)
    }

    /// What all workers together may have.
    func total(_ row: Int) -> Int { Int(rows[row].total) }

    /// How many leases the worker can be given without a larger share.
    func spare(_ row: Int, _ worker: Int) -> Int {
        let share = shares[row * workers + worker]
        return Int(share.most) - Int(share.held)
    }

    /// Connections that the worker may have and does not need, and has not been asked to close.
    func closable(_ row: Int, _ worker: Int) -> Int {
        spare(row, worker) - Int(shares[row * workers + worker].asked)
    }

    /// Whether a worker was asked to close idle connections and has not answered.
    func hasAsked(_ row: Int) -> Bool {
        shares[row * workers..<(row + 1) * workers].contains { $0.asked > 0 }
    }

    /// The worker gets a lease.
    ///
    /// - Returns: Whether its share had to grow.
    mutating func granted(_ origin: OriginKey, to worker: Int) -> Bool {
        let known = row(of: origin)
        let row = known ?? makeRow(of: origin)
        let place = row * workers + worker
        shares[place].held += 1
        guard shares[place].held > shares[place].most else { return false }
        shares[place].most += 1
        rows[row].total += 1
        return true
    }

    /// A lease was granted and not sent, so the worker knows nothing of it.
    ///
    /// - Parameter grew: What ``granted(_:to:)`` returned.
    mutating func withdrawn(_ origin: OriginKey, from worker: Int, grew: Bool) {
        guard let row = row(of: origin) else { return }
        let place = row * workers + worker
        guard shares[place].held > 0 else { return }
        shares[place].held -= 1
        if grew { settle(row, worker, open: Int(shares[place].most) - 1) }
    }

    /// A lease of the worker ended.
    ///
    /// - Parameter open: Connections to the origin that the worker has open, as it says. It may say what it likes: a
    ///   share grows by leases alone.
    mutating func ended(_ origin: OriginKey, at worker: Int, open: Int) {
        guard let row = row(of: origin) else { return }
        let place = row * workers + worker
        guard shares[place].held > 0 else { return }
        shares[place].held -= 1
        settle(row, worker, open: open)
    }

    /// The worker says by itself, or because it was asked, how many connections it has open.
    ///
    /// - Returns: Whether that is news.
    mutating func told(_ origin: OriginKey, by worker: Int, open: Int) -> Bool {
        guard let row = row(of: origin) else { return false }
        let place = row * workers + worker
        let before = shares[place]
        shares[place].asked = 0
        settle(row, worker, open: open)
        return before.asked > 0 || rows[row].total == 0 || shares[place].most < before.most
    }

    /// The worker is asked to close so many idle connections.
    mutating func asked(_ row: Int, _ worker: Int, _ count: Int) {
        shares[row * workers + worker].asked += UInt16(clamping: count)
    }

    /// The worker is gone, and its connections with it.
    mutating func lost(_ worker: Int) {
        for row in rows.indices where rows[row].total > 0 {
            let place = row * workers + worker
            shares[place].held = 0
            shares[place].asked = 0
            settle(row, worker, open: 0)
        }
    }

    @inline(__always)
    private mutating func settle(_ row: Int, _ worker: Int, open: Int) {
        let place = row * workers + worker
        let share = shares[place]
        let most = max(Int(share.held), min(open, Int(share.most)))
        guard most < Int(share.most) else { return }
        rows[row].total -= Int32(truncatingIfNeeded: Int(share.most) - most)
        shares[place].most = UInt16(truncatingIfNeeded: most)
        if rows[row].total == 0 { giveUp(row) }
    }

    private mutating func makeRow(of origin: OriginKey) -> Int {
        let index = Int(origin)
        while places.count <= index { places.append(Self.none) }
        let row: Int
        if let free = freeRows.popLast() {
            row = Int(free)
        } else {
            row = rows.count
            rows.append(Row())
            for _ in 0..<workers { shares.append(Share()) }
        }
        rows[row] = Row(origin: origin)
        places[index] = Int32(truncatingIfNeeded: row)
        found.append(origin)
        return row
    }

    private mutating func giveUp(_ row: Int) {
        for worker in 0..<workers { shares[row * workers + worker] = Share() }
        let origin = rows[row].origin
        places[Int(origin)] = Self.none
        // What nobody has taken note of need not be taken back.
        if let index = found.lastIndex(of: origin) { found.remove(at: index) } else { forgotten.append(origin) }
        freeRows.append(Int32(truncatingIfNeeded: row))
    }
}
