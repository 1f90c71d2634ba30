import CTrawlLMDB
import TrawlPlatform

@testable import TrawlStore

/// The size of an environment's file and mapping.
struct EnvironmentInformation {
    /// Bytes it can grow to before the mapping is made larger.
    let mapSize: Int
    /// Pages of 4 KiB in the data file, free ones among them.
    let filePages: UInt64
    /// Places in the lock file that readers had at one time.
    let readerPlaces: Int
    /// The number of the last committed transaction.
    let lastTransaction: UInt64
}

extension Environment {
    func information() throws(StoreError) -> EnvironmentInformation {
        guard let opening = opening() else { throw .closed }
        opening.refreshFilePages()
        return writing.holding {
            var info = MDB_envinfo()
            mdb_env_info(opening.environment, &info)
            return EnvironmentInformation(
                mapSize: Int(info.me_mapsize), filePages: opening.filePages, readerPlaces: Int(info.me_numreaders),
                lastTransaction: UInt64(info.me_last_txnid))
        }
    }
}
