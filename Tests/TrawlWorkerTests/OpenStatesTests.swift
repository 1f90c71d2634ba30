import Foundation
import Testing
import TrawlStore

@testable import TrawlWorker

@Suite("The states that a worker has open")
struct OpenStatesTests {
    @Test("store directories whose names are one to Unicode hold two")
    func equivalentNames() throws {
        let directory = NSTemporaryDirectory() + "trawl-states-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let states = OpenStates()
        let stores = try ["e\u{301}", "\u{E9}"].map { name in try #require(states.store(directory + "/" + name)) }
        #expect(stores[0] !== stores[1])
        #expect(states.store(directory + "/e\u{301}") === stores[0])
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory).count == 2)
    }
}
