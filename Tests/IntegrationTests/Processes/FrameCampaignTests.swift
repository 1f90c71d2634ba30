import Foundation
import TestSupport
import Testing
import Trawl

/// In a process of its own, so that memory, descriptors and children can be counted.
@Suite("Random and mutated frames", .timeLimit(.minutes(30)))
struct FrameCampaignTests {
    @Test("a coordinator takes them by the thousand and answers every fetch once")
    func campaign() async {
        await #expect(processExitsWith: .success) {
            try await Self.run(frames: runsLongTests ? 1_000_000 : 20_000)
        }
    }

    /// Fetches from workers that send such frames between their answers, until so many have come.
    private static func run(frames: Int) async throws {
        let directory = try TemporaryDirectory()
        let tally = directory.file("tally")
        let leftovers = try await Leftovers()
        var answered = 0
        var lost = 0
        try await withFaultyWorkers(
            ["campaign", "2000", "--tally", tally, "--seed", "20", "--lifetime", "600"], workers: 2
        ) { configuration in
            // Most of the frames are about leases of others.
            configuration.tolerance.strayFrames = .max
            // So that the ends of connections are wanted.
            configuration.debugLog = DebugLog(.connections) { _ in }
        } _: { coordinator in
            var memory = 0
            while count(tally) < frames {
                let requests = (0..<16).map { fakeRequest("/\($0)", seconds: 120) }
                for (course, request) in zip(await followAll(coordinator, requests), requests) {
                    // Now and then a fetch is alone at two workers' last frames.
                    if course.code == .workerLost {
                        lost += 1
                        #expect(course.ends == 1)
                    } else {
                        answered += 1
                        expectAnswered(course, request)
                    }
                }
                if memory == 0, count(tally) >= min(10_000, frames / 4) { memory = ProcessTree.residentMemory() }
            }
            #expect(ProcessTree.residentMemory() - memory < 32 << 20, "memory grew from \(memory)")
        }
        #expect(lost * 10 < answered, "\(lost) lost, \(answered) answered, \(count(tally)) frames")
        await leftovers.expectNone()
    }

    /// The sum of what the workers said they sent.
    private static func count(_ tally: String) -> Int {
        guard let bytes = FileManager.default.contents(atPath: tally) else { return 0 }
        return String(decoding: bytes, as: UTF8.self).split(separator: "\n").compactMap { Int($0) }.reduce(0, +)
    }
}
