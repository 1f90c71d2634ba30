import TestSupport
import Testing
import TrawlSupervision

/// Bodies of all kinds that come, grow, end, break off, are read late or never asked for, and what must hold after each
/// step.
private struct Model {
    struct Body {
        var length: Int
        let isKnown: Bool
        var have = 0
        var room: Int
        var waits = false
    }

    static let free = 64
    let seed: UInt64
    let limit: Int
    var random: SeededGenerator
    var budget: MemoryBudget
    var bodies: [LeaseID: Body] = [:]
    var unread: [Int] = []
    var lastLease: UInt64 = 0
    var started = 0
    var longest = 0
    /// What short bodies that wait take.
    var short: Int { unread.reduce(0) { $0 + ($1 <= Self.free ? $1 : 0) } }

    init(seed: UInt64) {
        self.seed = seed
        random = SeededGenerator(seed: seed)
        limit = [500, 4_000, 64_000].randomElement(using: &random) ?? 4_000
        budget = MemoryBudget(limit: limit, free: Self.free)
    }

    mutating func start() {
        guard budget.admitsLease, bodies.count < 24 else { return }
        lastLease += 1
        started += 1
        let length: Int
        switch Int.random(in: 0..<10, using: &random) {
        case 0: length = Int.random(in: limit...(3 * limit), using: &random)
        case 1...3: length = Int.random(in: 0...limit, using: &random)
        default: length = Int.random(in: 0...(2 * Self.free), using: &random)
        }
        bodies[LeaseID(rawValue: lastLease)] = Body(length: length, isKnown: random.bool(), room: Self.free)
    }

    /// A body receives as much as it may, or all at once what a decoder brings.
    mutating func receive(_ lease: LeaseID) {
        guard var body = bodies[lease], !body.waits else { return }
        body.have = min(body.length, body.room)
        if body.have == body.length { return end(lease, body) }
        let total = body.isKnown ? body.length : min(body.length, 2 * body.have)
        body.waits = true
        bodies[lease] = body
        longest = max(longest, body.length)
        budget.wanted(lease, holding: body.have, total: total, isWhole: body.isKnown)
    }

    mutating func end(_ lease: LeaseID, _ body: Body) {
        let waited = budget.ended(lease)
        #expect(waited == body.waits, "seed \(seed)")
        bodies[lease] = nil
        if body.have > 0 {
            budget.handedOver(body.have)
            unread.append(body.have)
        }
    }

    /// Cancelled, or its worker died.
    mutating func breakOff(_ lease: LeaseID) {
        guard let body = bodies.removeValue(forKey: lease) else { return }
        let waited = budget.ended(lease)
        #expect(waited == body.waits, "seed \(seed)")
    }

    mutating func read() {
        guard !unread.isEmpty else { return }
        budget.letGo(unread.removeFirst())
    }

    mutating func settle() {
        for grant in budget.grants() {
            guard let body = bodies[grant.lease], body.waits else {
                Issue.record("a grant nobody waits for, seed \(seed)")
                return
            }
            #expect(grant.bytes > 0, "seed \(seed)")
            bodies[grant.lease]?.waits = false
            bodies[grant.lease]?.room += grant.bytes
        }
        check()
    }

    func check() {
        let granted = bodies.values.reduce(0) { $0 + ($1.room > Self.free ? $1.room : 0) }
        let waiting = unread.reduce(0, +)
        #expect(budget.held == granted + waiting, "seed \(seed)")
        #expect(budget.isAwaited == bodies.values.contains(where: \.waits), "seed \(seed)")
        // Short ones that were in flight when it filled up come on top.
        let bound = max(limit, limit / 2 + longest) + limit / 8 + short + 24 * Self.free
        #expect(budget.held <= bound, "seed \(seed): \(budget.held) of \(bound)")
        // Who is left with nothing to wait for but memory, has it.
        if unread.isEmpty, !bodies.isEmpty {
            #expect(bodies.values.contains { !$0.waits }, "all wait, seed \(seed)")
        }
    }

    mutating func step() {
        let leases = bodies.keys.sorted { $0.rawValue < $1.rawValue }
        switch Int.random(in: 0..<10, using: &random) {
        case 0...3: start()
        case 4...7: if let lease = leases.randomElement(using: &random) { receive(lease) }
        case 8: read()
        default: if random.once(in: 8), let lease = leases.randomElement(using: &random) { breakOff(lease) }
        }
        settle()
    }

    /// Nothing new comes: all that is there comes to its end.
    mutating func runDry() {
        var rounds = 0
        while !bodies.isEmpty || !unread.isEmpty {
            for lease in bodies.keys.sorted(by: { $0.rawValue < $1.rawValue }) { receive(lease) }
            read()
            settle()
            rounds += 1
            guard rounds < 10_000 else {
                Issue.record("it does not end, seed \(seed)")
                return
            }
        }
        #expect(budget.held == 0 && !budget.isAwaited && budget.admitsLease, "seed \(seed)")
    }
}

@Suite("Memory for bodies, as it comes")
struct MemoryBudgetModelTests {
    @Test("whatever happens: no more than the budget and one body, everybody's turn comes, all is given back once")
    func model() {
        for seed in 0..<300 {
            var model = Model(seed: UInt64(seed))
            for _ in 0..<400 { model.step() }
            model.runDry()
        }
    }
}
