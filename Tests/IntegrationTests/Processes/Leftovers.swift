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
    func expectNone(sourceLocation: SourceLocation = #_sourceLocation) {
        let now = Self.descriptors()
        #expect(now.count <= descriptors, "\(now)", sourceLocation: sourceLocation)
        #expect(Set(ProcessTree.children()) == bystanders, sourceLocation: sourceLocation)
        #expect(ProcessTree.zombies().isEmpty, sourceLocation: sourceLocation)
        let threads = ProcessTree.threads()
        #expect(!threads.contains { $0.hasPrefix("trawl-") }, "\(threads)", sourceLocation: sourceLocation)
    }

    /// The timer of the runtime's own event loop comes when it is first needed.
    private static func descriptors() -> [String] {
        ProcessTree.descriptors().filter { !$0.contains("timerfd") }
    }
}
