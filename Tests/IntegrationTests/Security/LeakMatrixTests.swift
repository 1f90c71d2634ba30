import Foundation
import Testing
import Trawl

/// A program that leaks: it hands on what its redirects are said to have left behind.
private struct Leaking: FetchDecisions {
    func redirect(_ proposal: RedirectProposal) async -> RedirectChoice {
        var request = proposal.request
        let id = proposal.url.components(separatedBy: "/cell-").last?.prefix { $0 != "?" } ?? ""
        request.fields.add("X-Planted", "mark-" + id)
        return .send(request)
    }
}

@Suite(
    "No secret leaves its origin: the leak matrix", .enabled(if: RecordingOrigin.canRun, RecordingOrigin.missing),
    .timeLimit(.minutes(3)))
struct LeakMatrixTests {
    /// Runs all cells and returns, for each, what the origin saw of it.
    private func run(_ cells: [LeakCell], _ scene: TrustScene, _ coordinator: Coordinator) async throws
        -> [String: [RecordingOrigin.Seen]]
    {
        try await withThrowingTaskGroup(of: Void.self) { group in
            let gate = Gate(width: 16)
            for cell in cells {
                group.addTask {
                    await gate.enter()
                    defer { gate.leave() }
                    if let preparation = cell.preparation(scene) { _ = try await coordinator.send(preparation) }
                    // A stored redirect answers the second time; a connection stands the second time.
                    let isTwice = !cell.transition.redirectMore.isEmpty || cell.transition.warmsUp
                    for _ in 0..<(isTwice ? 2 : 1) {
                        _ = try await coordinator.send(cell.request(scene))
                    }
                }
            }
            try await group.waitForAll()
        }
        return Dictionary(grouping: try scene.origin.seen()) { seen in
            seen.target?.dropFirst().prefix { $0 != "?" }.description ?? ""
        }
    }

    @Test("every secret, every way, every status: nothing arrives where it does not belong")
    func matrix() async throws {
        let store = try TemporaryDirectory()
        let cells = LeakCell.all
        #expect(cells.count >= 300)
        try await TrustScene.with(adjust: { $0.store = .directory(store.file("store")) }) { scene, coordinator in
            let seen = try await run(cells, scene, coordinator)
            var wrong: [String] = []
            for cell in cells {
                let own = seen[cell.id] ?? []
                wrong += cell.leaks(own)
                let hops = Set(own.compactMap { $0.target?.components(separatedBy: "hop=").dropFirst().first?.first })
                if hops.subtracting(["s"]).count != cell.transition.to.count + 1 {
                    wrong.append("\(cell.id): hops \(hops) alone")
                }
                // It was there to be leaked.
                let home = own.filter { $0.target?.contains("hop=0") == true }
                if cell.secret.arrives, !home.contains(where: { cell.secret.shows(cell.mark, in: $0) }) {
                    wrong.append("\(cell.id): its own origin did not get it")
                }
            }
            #expect(wrong.isEmpty, "\(wrong.count) wrong: \(wrong.prefix(10))")
        }
    }

    @Test("a leak that is planted is found in every cell that leaves its origin")
    func planted() async throws {
        let cells = LeakCell.all.filter { $0.secret == .authorization && $0.status == 307 }
        try await TrustScene.with(adjust: { $0.decisions = Leaking() }) { scene, coordinator in
            let seen = try await run(cells, scene, coordinator)
            for cell in cells {
                #expect(cell.leaks(seen[cell.id] ?? []).isEmpty == cell.transition.staysHome, "\(cell.id)")
            }
        }
    }
}
