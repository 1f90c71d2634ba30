import Foundation
import Glibc
import Testing
import Trawl

/// A program that leaks: it hands on what its redirects are said to have left behind.
private struct Leaking: FetchDecisions {
    func redirect(_ proposal: RedirectProposal) async -> RedirectChoice {
        var request = proposal.request
        let id = proposal.url.components(separatedBy: "/cell-").last?.prefix { $0 != "/" } ?? ""
        request.fields.add("X-Planted", "mark-" + id)
        return .send(request)
    }
}

@Suite(
    "No secret leaves its origin: the leak matrix, ASI-RED-09",
    .enabled(if: RecordingOrigin.canRun, RecordingOrigin.missing),
    .timeLimit(.minutes(10)))
struct LeakMatrixTests {
    /// What was seen of each cell, and of none.
    private typealias Sightings = [String: [RecordingOrigin.Seen]]

    /// Runs all cells.
    ///
    /// - Parameter width: How many at a time.
    private func run(
        _ cells: [LeakCell], _ scene: TrustScene, _ coordinator: Coordinator, width: Int = 16
    ) async throws -> Sightings {
        try await withThrowingTaskGroup(of: Void.self) { group in
            let gate = Gate(width: width)
            for cell in cells {
                group.addTask {
                    await gate.enter()
                    defer { gate.leave() }
                    if let preparation = try cell.preparation(scene) { _ = try await coordinator.send(preparation) }
                    // A stored redirect answers the second time; a connection stands the second time.
                    let isTwice = cell.transition.storesRedirect || cell.transition.warmsUp
                    for _ in 0..<(isTwice ? 2 : 1) {
                        _ = try await coordinator.send(try cell.request(scene))
                    }
                }
            }
            if cells.allSatisfy(\.transition.losesWorker) {
                // All have come as far as they can, and have no answer yet.
                let ids = Set(cells.map(\.id))
                let areThere = await eventually(within: .seconds(90)) {
                    let seen = (try? scene.origin.seen()) ?? []
                    return Set(seen.filter { LeakCell.hop(of: $0) == "1" }.map(LeakCell.id)).isSuperset(of: ids)
                }
                #expect(areThere)
                coordinator.signalWorkers(SIGKILL)
                try scene.origin.release()
            }
            try await group.waitForAll()
        }
        return Dictionary(grouping: try scene.origin.seen(), by: LeakCell.id)
    }

    /// What is wrong with all cells.
    private func problems(_ cells: [LeakCell], _ seen: Sightings) -> [String] {
        var wrong = cells.flatMap { cell in
            let own = seen[cell.id] ?? []
            return cell.leaks(own) + cell.gaps(own)
        }
        // What a proxy is asked for a tunnel with is for it alone, and nothing else goes along.
        let connects = (seen[""] ?? []).filter { $0.method == "CONNECT" }
        let words = connects.flatMap { ($0.fields ?? []).map { $0.joined(separator: ": ") } + [$0.target ?? ""] }
        let text = Set(words).joined(separator: "\n")
        for cell in cells {
            let coded = Data("user:\(cell.mark)".utf8).base64EncodedString()
            let isThere = text.contains(cell.mark) || text.contains(coded)
            switch cell.secret {
            case .proxyCredential where cell.transition.to.contains(where: \.isSecure):
                if !isThere { wrong.append("\(cell.id): the proxy did not get it") }
            case .proxyCredential, .proxyAuthorization: break
            default: if isThere { wrong.append("\(cell.id): in CONNECT") }
            }
        }
        return wrong
    }

    @Test("every secret, every way, every status: nothing arrives where it does not belong")
    func matrix() async throws {
        let store = try TemporaryDirectory()
        let cells = LeakCell.all.filter { !$0.transition.losesWorker && !$0.transition.warmsUp }
        #expect(cells.count >= 1000)
        try await TrustScene.with(adjust: { $0.store = .directory(store.file("store")) }) { scene, coordinator in
            let seen = try await run(cells, scene, coordinator)
            let wrong = problems(cells, seen)
            #expect(wrong.isEmpty, "\(wrong.count) wrong: \(wrong.prefix(10))")
        }
    }

    @Test("nor on a connection that another request of the cell has used")
    func reusedConnections() async throws {
        let store = try TemporaryDirectory()
        let cells = LeakCell.all.filter(\.transition.warmsUp)
        #expect(cells.count >= 50)
        func adjust(_ configuration: inout Configuration) {
            configuration.store = .directory(store.file("store"))
            // One worker and one cell at a time: nobody else has the connection.
            configuration.workers = 1
        }
        try await TrustScene.with(adjust: adjust) { scene, coordinator in
            let seen = try await run(cells, scene, coordinator, width: 1)
            let wrong = problems(cells, seen)
            #expect(wrong.isEmpty, "\(wrong.count) wrong: \(wrong.prefix(10))")
        }
    }

    @Test("nor when a worker dies on the way and the request is made again")
    func workerDeath() async throws {
        let store = try TemporaryDirectory()
        let cells = LeakCell.all.filter(\.transition.losesWorker)
        #expect(cells.count >= 50)
        try await TrustScene.with(adjust: { $0.store = .directory(store.file("store")) }) { scene, coordinator in
            let seen = try await run(cells, scene, coordinator, width: cells.count)
            let wrong = problems(cells, seen)
            #expect(wrong.isEmpty, "\(wrong.count) wrong: \(wrong.prefix(10))")
            let repeated = cells.count { cell in
                (seen[cell.id] ?? []).count { LeakCell.hop(of: $0) == "1" && $0.method != "CONNECT" } > 1
            }
            #expect(repeated == cells.count)
        }
    }

    @Test("a leak that is planted is found in every cell that leaves its origin")
    func planted() async throws {
        let cells = LeakCell.all.filter {
            $0.secret == .authorization && $0.status == 307 && !$0.transition.losesWorker
        }
        try await TrustScene.with(adjust: { $0.decisions = Leaking() }) { scene, coordinator in
            let seen = try await run(cells, scene, coordinator)
            for cell in cells {
                #expect(cell.leaks(seen[cell.id] ?? []).isEmpty == cell.transition.staysHome, "\(cell.id)")
            }
        }
    }
}
