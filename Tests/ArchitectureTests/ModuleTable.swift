/// Which target may import what. Rows stand bottom up: a target imports only from rows above its own in this list.
///
/// A new target gets a row here, in the same change.
struct ModuleTable {
    enum Kind { case c, pure, effects, surface }

    struct Row {
        let name: String
        let kind: Kind
        /// Targets of this package, C modules among them.
        let ours: Set<String>
        /// Modules of the toolchain and of other packages.
        let others: Set<String>
        /// What the shim headers of a C target may include besides stdint, stddef and stdatomic. `curl/` is all beneath
        /// it.
        let headers: [String]
    }

    static let rows: [Row] = [
        c("CPlatform", []),
        c("CZlib", ["zlib.h"]),
        c("CBrotli", ["brotli/decode.h"]),
        c("CCurl", ["curl/"]),
        c("CPSL", []),
        c("CLMDB", ["lmdb.h"]),
        c("CBlob", []),
        c("CCrypto", []),
        c("CPAC", []),

        pure("TrawlHTTP", []),
        pure("TrawlProtocol", ["TrawlHTTP"]),
        pure("TrawlFrontier", ["TrawlHTTP"]),
        pure("TrawlSupervision", ["TrawlHTTP"]),
        pure("TrawlJSON", []),
        pure("TrawlWatch", ["TrawlHTTP", "TrawlJSON"]),
        pure("TrawlCache", ["TrawlHTTP"]),
        pure("TrawlSession", ["TrawlHTTP"]),

        effects("TrawlPlatform", allPure.union(["CPlatform"])),
        effects("TrawlPAC", ["CPAC", "TrawlPlatform"]),
        effects("TrawlCoding", allPure.union(["CZlib", "CBrotli"])),
        effects("TrawlURL", ["TrawlHTTP", "CCurl", "CPSL"]),
        effects("TrawlCrypto", ["CCrypto"]),
        effects("TrawlStore", allPure.union(["CLMDB", "CBlob", "TrawlPlatform"])),
        effects("TrawlTransfer", allPure.union(["CCurl", "TrawlCoding", "TrawlPlatform"])),

        effects("TrawlWorker", allPure.union(allEffects)),
        surface("Trawl", allPure.union(allEffects).union(["TrawlWorker"]), ["HTTPTypes"]),
        surface("TrawlFoundation", ["Trawl"], ["Foundation"]),
        surface("TrawlMetrics", ["Trawl", "TrawlWatch"], ["Metrics"]),
        surface("TrawlCommand", allPure.union(allEffects).union(["TrawlWorker", "Trawl"]), ["ArgumentParser"]),
        surface("TrawlWorkerMain", ["TrawlWorker", "TrawlPAC"], []),
    ]

    private static let allPure: Set = [
        "TrawlHTTP", "TrawlProtocol", "TrawlFrontier", "TrawlSupervision", "TrawlJSON", "TrawlCache",
        "TrawlSession", "TrawlWatch",
    ]
    private static let allEffects: Set = [
        "TrawlCrypto", "TrawlPlatform", "TrawlPAC", "TrawlCoding", "TrawlURL", "TrawlStore", "TrawlTransfer",
    ]

    static func row(_ name: String) -> Row? { rows.first { $0.name == name } }

    private static func c(_ name: String, _ headers: [String]) -> Row {
        Row(name: name, kind: .c, ours: [], others: [], headers: headers)
    }

    private static func pure(_ name: String, _ ours: Set<String>) -> Row {
        Row(name: name, kind: .pure, ours: ours, others: [], headers: [])
    }

    private static func effects(_ name: String, _ ours: Set<String>) -> Row {
        Row(name: name, kind: .effects, ours: ours, others: ["Glibc", "Synchronization"], headers: [])
    }

    private static func surface(_ name: String, _ ours: Set<String>, _ others: Set<String>) -> Row {
        Row(name: name, kind: .surface, ours: ours, others: others.union(["Glibc", "Synchronization"]), headers: [])
    }
}
