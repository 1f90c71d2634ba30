/// How much memory bodies may take, those that are being received and those that wait for their reader.
///
/// A body is free as long as it is short enough to travel inside a frame. One that gets longer asks before it does: for
/// all of its length where that is known, else for some more each time. What it was granted it holds until its lease
/// ends. What is handed over then counts until it is let go.
///
/// - The eldest goes first. Younger ones pass it where they fit and it does not, up to one budget in all; then none
///   passes. Its turn comes as soon as those that are being received leave half the budget, however slow they are, and no
///   lease is granted while what was handed over is all that stands in its way.
/// - Bodies of unknown length can come to hold what the others wait for, each with a part. So all of them but the
///   eldest hold no more than half the budget; and when nothing is left that will be given back by itself, the eldest
///   of those that wait gets what it asks for, whatever the budget. So there is always one that goes to its end.
///
/// What is held is never more than the budget, or than half of it and one body, whichever is more; beside that an
/// eighth of the budget in bodies that ended short and wait, and what decoders brought beyond what was asked for.
package struct MemoryBudget: Sendable {
    /// More room for the body of a lease.
    package struct Grant: Equatable, Sendable {
        /// The lease that asked.
        package let lease: LeaseID
        /// Bytes beyond those it had been granted.
        package let bytes: Int
    }

    /// A body that is too long to be free, while its lease is held.
    private struct Body {
        /// When it asked first, among all of them.
        let age: UInt64
        /// What it may have, in bytes.
        var room: Int
        /// What of that, or of what came beyond, counts.
        var counted = 0
        var isWhole = false
    }

    private struct Want {
        let lease: LeaseID
        let age: UInt64
        var total: Int
    }

    /// The bytes there are.
    package let limit: Int
    /// The longest body that is free.
    private let free: Int
    private var bodies: [LeaseID: Body] = [:]
    /// Those that wait, the eldest first.
    private var wants: [Want] = []
    private var nextAge: UInt64 = 0
    /// What bodies of held leases hold.
    private var received = 0
    /// What was handed over and is not let go.
    private var delivered = 0
    /// What has passed the eldest that waits.
    private var passed = 0

    /// Nothing is held.
    ///
    /// - Parameters:
    ///   - limit: Bytes; at least 1.
    ///   - free: The longest body that need not ask, in bytes.
    package init(limit: Int, free: Int) {
        self.limit = max(1, limit)
        self.free = free
    }

    /// What counts now, in bytes.
    package var held: Int { received + delivered }

    /// Whether bodies wait for room.
    package var isAwaited: Bool { !wants.isEmpty }

    /// Whether another lease may be granted whose body is to be kept in memory.
    ///
    /// Short bodies go on beside one that fills the budget, as long as their reader takes them.
    package var admitsLease: Bool {
        (passed < limit || !isNext) && (held < limit || delivered < limit / 8)
    }

    /// Whether the eldest that waits has its turn as soon as what was handed over is let go: a body that takes hours
    /// may stand in its way, too.
    private var isNext: Bool {
        guard let want = wants.first, let body = bodies[want.lease] else { return false }
        var parts: Parts?
        return mayHave(max(0, want.total - body.counted), body, isEldest: true, beside: 0, &parts)
    }

    /// The body of a held lease is to become longer than it may. Asked again before a grant, the new wish counts.
    ///
    /// - Parameters:
    ///   - holding: The bytes there are, which may be more than were granted.
    ///   - total: The bytes it wants to have in all.
    ///   - isWhole: Whether that is all of the body.
    package mutating func wanted(_ lease: LeaseID, holding: Int, total: Int, isWhole: Bool) {
        var body = bodies[lease] ?? Body(age: nextAge, room: free)
        if body.age == nextAge { nextAge += 1 }
        body.isWhole = isWhole
        if holding > body.room { count(holding, &body) }
        bodies[lease] = body
        wants.removeAll { $0.lease == lease }
        let place = wants.firstIndex { $0.age > body.age } ?? wants.endIndex
        wants.insert(Want(lease: lease, age: body.age, total: max(total, holding)), at: place)
    }

    /// A lease is over, whichever way: nothing of it counts any more.
    ///
    /// - Returns: Whether its body waited for room.
    @discardableResult
    package mutating func ended(_ lease: LeaseID) -> Bool {
        guard let body = bodies.removeValue(forKey: lease) else { return false }
        received -= body.counted
        guard let place = wants.firstIndex(where: { $0.lease == lease }) else { return false }
        wants.remove(at: place)
        if place == 0 { passed = 0 }
        return true
    }

    /// A body was handed over.
    package mutating func handedOver(_ bytes: Int) {
        delivered += bytes
        if !wants.isEmpty, bytes <= free { passed += bytes }
    }

    /// So much of what was handed over was let go.
    package mutating func letGo(_ bytes: Int) {
        delivered -= bytes
    }

    /// The wishes that can be met by now; they are.
    package mutating func grants() -> [Grant] {
        var grants: [Grant] = []
        var parts: Parts?
        var place = 0
        while place < wants.count {
            let want = wants[place]
            guard var body = bodies[want.lease] else { preconditionFailure("a wish without a lease") }
            let more = max(0, want.total - body.counted)
            guard mayHave(more, body, isEldest: place == 0, beside: delivered, &parts) else {
                place += 1
                continue
            }
            parts = nil
            if place == 0 { passed = 0 } else { passed += more }
            grants.append(Grant(lease: want.lease, bytes: max(0, want.total - body.room)))
            count(want.total, &body)
            body.room = max(body.room, want.total)
            bodies[want.lease] = body
            wants.remove(at: place)
        }
        return grants
    }

    /// - Parameters:
    ///   - delivered: What was handed over and is not let go.
    ///   - parts: What is known of bodies of unknown length since the last grant, in one look at all of them.
    private func mayHave(
        _ more: Int, _ body: Body, isEldest: Bool, beside delivered: Int, _ parts: inout Parts?
    ) -> Bool {
        if !isEldest, passed >= limit { return false }
        if received + delivered + more <= limit {
            if body.isWhole { return true }
            let known = parts ?? lookAtParts()
            parts = known
            if isEldest, known.eldest.map({ $0 >= body.age }) ?? true { return true }
            if known.held + more <= limit / 2 { return true }
        }
        guard isEldest, delivered <= limit / 8 else { return false }
        // Nothing is left that is given back without another grant, but what is short; or what is left may take hours.
        return wants.count == bodies.count || body.isWhole && passed >= limit && received < limit / 2
    }

    /// The bodies of unknown length.
    private struct Parts {
        /// The age of the eldest that holds something.
        var eldest: UInt64?
        /// What they hold, without the one that may grow as far as the budget goes.
        var held = 0
    }

    private func lookAtParts() -> Parts {
        var parts = Parts()
        var eldestHolds = 0
        for body in bodies.values where !body.isWhole && body.counted > 0 {
            parts.held += body.counted
            if let eldest = parts.eldest, eldest < body.age { continue }
            (parts.eldest, eldestHolds) = (body.age, body.counted)
        }
        // Not while an elder one waits for all of its length: it would have to wait for this one's end.
        if let first = wants.first, let eldest = parts.eldest, eldest > first.age { return parts }
        parts.held -= eldestHolds
        return parts
    }

    private mutating func count(_ bytes: Int, _ body: inout Body) {
        let bytes = max(bytes, body.counted)
        received += bytes - body.counted
        body.counted = bytes
    }
}
