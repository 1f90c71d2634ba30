import Foundation
import TestSupport
import Testing

@testable import TrawlStore

@Suite("docs/storage.md")
struct StorageDocumentTests {
    private let text: String

    init() throws {
        text = try String(contentsOfFile: Checkout.path("docs/storage.md"), encoding: .utf8)
    }

    @Test("has a row for every table, and the version of each environment")
    func tables() {
        for table in CacheSchema.tables + StateSchema.tables {
            #expect(text.contains("| `\(table.name)` |"), "\(table)")
        }
        #expect(text.contains("the table `\(FormatRecord.table.name)`"))
        #expect(text.contains("the environment, format \(CacheSchema.format), rebuildable"))
        #expect(text.contains("the environment, format \(StateSchema.format), durable"))
    }

    @Test("names every file that a store in use has")
    func files() throws {
        let scratch = CacheScratch()
        let store = try CacheStore.open(directory: scratch.cache)
        let session = try store.beginSession()
        store.put(1, body: [UInt8](repeating: 1, count: 30_000))
        store.put(2, body: [2])
        store.use(2)
        let state = try StateStore.open(store: scratch.path)
        try state.set("a=1", from: "http://x.org/")
        let names = Set(["cache", "state"].flatMap { CacheScratch.names(scratch.path + "/" + $0) })
        #expect(names.isSuperset(of: ["data.mdb", "blobs", "changes", "sessions", "storing"]), "\(names)")
        for name in names { #expect(text.contains("`\(name)`") || text.contains("`\(name)/"), "\(name)") }
        state.close()
        store.endSession(session)
        store.close()
    }
}
