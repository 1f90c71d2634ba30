import CTrawlLMDB
import Foundation
import Glibc
import Testing

@testable import TrawlStore

@Suite("The two pages that begin a data file")
struct MetaPageTests {
    private let scratch: ScratchDirectory

    init() throws {
        scratch = try ScratchDirectory()
    }

    @Test("those of a new file are what LMDB writes where the system's pages have 4 KiB")
    func fresh() throws {
        let mapSize = 1 << 20
        let pages = MetaPage.fresh(mapSize: UInt64(mapSize))
        let meta = try pages.withUnsafeBytes { try MetaPage.latest(of: $0) }
        #expect(meta.mapSize == UInt64(mapSize) && meta.lastPage == 1 && meta.transaction == 0)
        guard sysconf(Int32(_SC_PAGESIZE)) == PageLayout.size else { return }
        var environment: OpaquePointer?
        mdb_env_create(&environment)
        mdb_env_set_mapsize(environment, mapSize)
        let opened = mdb_env_open(environment, scratch.path, 0, 0o600)
        mdb_env_close(environment)
        #expect(opened == 0)
        let written = try Data(contentsOf: URL(fileURLWithPath: scratch.path + "/data.mdb"))
        #expect(written == Data(pages))
    }

    @Test("LMDB keeps to the pages of the file it finds")
    func found() throws {
        let environment = try Environment.open(directory: scratch.environment, settings: Sample.settings())
        defer { environment.close() }
        try environment.put(1, [1])
        let opening = try #require(environment.opening())
        var facts = MDB_stat()
        mdb_env_stat(opening.environment, &facts)
        #expect(facts.ms_psize == UInt32(PageLayout.size))
        #expect(try environment.get(1) == [1])
    }
}
