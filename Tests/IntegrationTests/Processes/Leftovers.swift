import Foundation
import Testing
import Trawl

/// What a process has before it uses coordinators, to be compared with what it has afterwards.
struct Leftovers {
    private let descriptors: Int
    private let bystanders: Set<Int32>

    /// Counts, after one coordinator has come and gone, so that what the runtime makes once is not taken for a leak.
    init() async throws {
        try await withFaultyWorkers(["none"]) { coordinator in
            let request = fakeRequest("/")
            expectAnswered(await follow(coordinator, request), request)
        }
        descriptors = Self.descriptors().count
        bystanders = Set(ProcessTree.children())
    }

    /// Checks that there are no more descriptors, no thread of ours, and no child that was not there before.
    ///
    /// What has come to its end, a thread above all, may be seen for a moment more.
    func expectNone(sourceLocation: SourceLocation = #_sourceLocation) async {
        let isNone = await eventually { remains().isEmpty }
        #expect(isNone, "\(remains())", sourceLocation: sourceLocation)
    }

    /// What there is more than before, in words.
    private func remains() -> [String] {
        let now = Self.descriptors()
        var words = now.count > descriptors ? now : []
        let children = Set(ProcessTree.children())
        if children != bystanders { words.append("children \(children), before \(bystanders)") }
        words += ProcessTree.zombies().map { "zombie \($0)" }
        return words + ProcessTree.threads().filter { $0.hasPrefix("trawl-") }
    }

    /// The timer of the runtime's own event loop comes when it is first needed.
    private static func descriptors() -> [String] {
        ProcessTree.descriptors().filter { !$0.contains("timerfd") }
    }
}
