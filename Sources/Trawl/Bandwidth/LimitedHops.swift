import TrawlProtocol

/// How many leases there are under each limit of bandwidth, and the hops that leave the last leases to those of others.
///
/// A limit has places for so many transfers at a time; the others wait in their workers and keep their leases. So that
/// they do not have all leases there are, hops of a limit that has one for each of its places wait here.
struct LimitedHops {
    /// The most hops that wait here; behind them all others wait, too.
    static let most = 4096

    private var leases: [Int: Int] = [:]
    private var lines: [Int: [FetchKey]] = [:]
    /// How many hops wait.
    private(set) var count = 0

    /// The limits that hops wait for.
    var awaited: [Int] { Array(lines.keys) }

    /// A lease is granted that is under these limits.
    mutating func granted(under numbers: LimitNumbers) {
        for number in numbers.numbers { leases[number, default: 0] += 1 }
    }

    /// One of those leases is over.
    mutating func ended(under numbers: LimitNumbers) {
        for number in numbers.numbers {
            guard let held = leases[number] else { continue }
            leases[number] = held > 1 ? held - 1 : nil
        }
    }

    /// Whether a limit has a lease for each of its places.
    func isCrowded(_ number: Int, places: Int) -> Bool { leases[number, default: 0] >= places }

    /// A hop waits for a limit, behind the others or before them.
    mutating func insert(_ key: FetchKey, _ number: Int, front: Bool = false) {
        count += 1
        if front { lines[number, default: []].insert(key, at: 0) } else { lines[number, default: []].append(key) }
    }

    /// The hop that waits longest for a limit.
    mutating func next(_ number: Int) -> FetchKey? {
        guard let key = lines[number]?.first else { return nil }
        remove(key, number)
        return key
    }

    /// A hop waits no more.
    mutating func remove(_ key: FetchKey, _ number: Int) {
        guard let index = lines[number]?.firstIndex(of: key) else { return }
        lines[number]?.remove(at: index)
        if lines[number]?.isEmpty == true { lines[number] = nil }
        count -= 1
    }
}
