import Glibc
import Trawl

/// Responses from a filled store, as a host program asks for them: each caller one after the other, URLs at random.
struct Hits {
    let urls: [String]
    let callers: Int
    /// Hits of all callers together in one pass.
    let count: Int

    /// Two passes over the same URLs: the first maps the pages of the store, the second finds them mapped.
    func run(_ coordinator: Coordinator) async throws -> [String] {
        var passes: [String] = []
        for _ in 0..<2 { passes.append(try await pass(coordinator)) }
        return passes
    }

    /// One pass, as JSON; of CPU, page faults and bytes written it tells what one hit took.
    private func pass(_ coordinator: Coordinator) async throws -> String {
        let (start, cpu) = (Measurements.now(), Measurements.cpu(Measurements.own))
        let (faults, written) = (Measurements.faults(), Measurements.written())
        let each = count / callers
        try await withThrowingTaskGroup(of: Void.self) { group in
            for caller in 0..<callers {
                group.addTask { try await fetch(each, seed: UInt64(caller + 1), coordinator) }
            }
            try await group.waitForAll()
        }
        let hits = Double(each * callers)
        let wall = Measurements.now() - start
        return """
            {"wall":\(wall),"perSecond":\(hits / wall),\
            "microseconds":\((Measurements.cpu(Measurements.own) - cpu) / hits * 1e6),\
            "faults":\(Double(Measurements.faults() - faults) / hits),\
            "written":\(Double(Measurements.written() - written) / hits)}
            """
    }

    @concurrent
    private func fetch(_ count: Int, seed: UInt64, _ coordinator: Coordinator) async throws {
        var random = seed &* 0x2545_F491_4F6C_DD1D
        for _ in 0..<count {
            random ^= random << 13
            random ^= random >> 7
            random ^= random << 17
            let response = try await coordinator.send(Request(urls[Int(random % UInt64(urls.count))]))
            guard response.source == .cache, response.status == 200, !response.body.isEmpty else {
                complain("\(response.url): \(response.status) from \(response.source)")
                exit(1)
            }
        }
    }
}
