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
    private var numbers: [TransferProfile: UInt32] = [:]
    private var profiles: [(profile: TransferProfile, version: UInt32)] = []
    private var nextVictim: UInt32 = 0
    private var last: (terms: FetchTerms, assignment: Assignment)?

    /// The number of a profile; when all are taken, the oldest number changes its meaning.
    mutating func assignment(for terms: FetchTerms) -> Assignment {
        if let last, last.terms === terms { return last.assignment }
        let profile = terms.profile
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
            numbers[profiles[Int(number)].profile] = nil
            profiles[Int(number)] = (profile, profiles[Int(number)].version &+ 1)
            numbers[profile] = number
            assignment = Assignment(number: number, version: profiles[Int(number)].version)
        }
        last = (terms, assignment)
        return assignment
    }
}

extension RequestOptions {
    /// What a worker needs to know of the options.
    var profile: TransferProfile {
        var profile = TransferProfile()
        profile.version =
            switch transport.version {
            case .http1_0: .http1_0
            case .http1_1: .http1_1
            case .http2: .http2
            case .http2PriorKnowledge: .http2PriorKnowledge
            }
        profile.decoding = contentDecoding == .streaming ? .streaming : .off
        profile.addressFamily =
            switch transport.addressFamily {
            case .any: .any
            case .ipv4: .ipv4
            case .ipv6: .ipv6
            }
        profile.connectTimeout = timeLimits.connect.clampedMilliseconds
        profile.inactivityTimeout = timeLimits.inactivity.clampedMilliseconds
        profile.firstByteTimeout = timeLimits.firstByte.clampedMilliseconds
        profile.idleLifetime = UInt32(clamping: transport.idleLifetime)
        profile.receiveBuffer = transport.receiveBuffer.map { UInt32(clamping: max($0, 1)) } ?? 0
        profile.headBytes = UInt32(clamping: min(sizeLimits.headBytes, WireProtocol.maximumHead))
        profile.headFields = UInt32(clamping: sizeLimits.headFields)
        profile.bodyBytes = sizeLimits.bodyBytes ?? 0
        profile.memoryBytes = sizeLimits.memoryBytes
        profile.codingLayers = UInt8(clamping: sizeLimits.codingLayers)
        profile.codingRatio = UInt32(clamping: sizeLimits.codingRatio)
        profile.allowsHTTP = transport.allowsHTTP
        profile.allowsHTTPS = transport.allowsHTTPS
        profile.tls = tls.terms
        profile.verifiesProxy = transport.verifiesProxy
        profile.proxyCAFile = transport.proxyCAFile ?? ""
        profile.resolve = transport.resolve
        profile.connectTo = transport.connectTo
        profile.interface = transport.interface ?? ""
        return profile
    }
}
