import TrawlHTTP
import TrawlProtocol

/// The transfer profiles in use, by number. Each number's meaning is versioned, so that a link knows what it has told
/// its worker already.
struct ProfileTable {
    struct Assignment: Equatable {
        let number: UInt32
        let version: UInt32
    }

    private static let capacity: UInt32 = 256
    /// By what a worker is told of them.
    private var numbers: [[UInt8]: UInt32] = [:]
    private var profiles: [(bytes: [UInt8], version: UInt32)] = []
    private var nextVictim: UInt32 = 0
    private var last: (terms: FetchTerms, assignment: Assignment)?

    /// The number of a profile; when all are taken, the oldest number changes its meaning.
    mutating func assignment(for terms: FetchTerms) -> Assignment {
        if let last, last.terms === terms { return last.assignment }
        let profile = terms.profileBytes
        let assignment: Assignment
        if let number = numbers[profile] {
            assignment = Assignment(number: number, version: profiles[Int(number)].version)
        } else if profiles.count < Self.capacity {
            assignment = Assignment(number: UInt32(profiles.count), version: 1)
            profiles.append((profile, 1))
            numbers[profile] = assignment.number
        } else {
            let number = nextVictim
            nextVictim = (nextVictim + 1) % Self.capacity
            numbers[profiles[Int(number)].bytes] = nil
            profiles[Int(number)] = (profile, profiles[Int(number)].version &+ 1)
            numbers[profile] = number
            assignment = Assignment(number: number, version: profiles[Int(number)].version)
        }
        last = (terms, assignment)
        return assignment
    }
}
