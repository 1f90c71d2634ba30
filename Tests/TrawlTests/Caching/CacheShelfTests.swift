import Foundation
import Testing
import TrawlStore

@testable import Trawl

@Suite("The caches of a coordinator")
struct CacheShelfTests {
    @Test("directories whose names are one to Unicode hold two")
    func equivalentNames() throws {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("trawl-shelf-\(UUID())").path
        defer { try? FileManager.default.removeItem(atPath: directory) }
        var configuration = Configuration()
        configuration.store = .none
        let shelf = CacheShelf(configuration)
        defer { shelf.close() }
        let stores = try ["e\u{301}", "\u{E9}"].map { name in try #require(shelf.store(directory + "/" + name)) }
        #expect(stores[0] !== stores[1])
        #expect(shelf.openStore(directory + "/e\u{301}") === stores[0])
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory).count == 2)
    }
}
