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
        c("CTrawlPlatform", []),
        c("CTrawlZlib", ["zlib.h"]),
        c("CTrawlBrotli", ["brotli/decode.h"]),
        c("CTrawlCurl", ["curl/"]),
        c("CTrawlPSL", []),
        c("CTrawlLMDB", ["lmdb.h"]),
        c("CTrawlBlob", []),
        c("CTrawlCrypto", []),
        c("CTrawlPAC", []),

        pure("TrawlHTTP", []),
        pure("TrawlProtocol", ["TrawlHTTP"]),
        pure("TrawlFrontier", ["TrawlHTTP"]),
        pure("TrawlSupervision", ["TrawlHTTP"]),
        pure("TrawlJSON", []),
        pure("TrawlWatch", ["TrawlHTTP", "TrawlJSON"]),
        pure("TrawlCache", ["TrawlHTTP"]),
        pure("TrawlSession", ["TrawlHTTP"]),

        effects("TrawlPlatform", allPure.union(["CTrawlPlatform"])),
        effects("TrawlPAC", ["CTrawlPAC", "TrawlPlatform"]),
        effects("TrawlCoding", allPure.union(["CTrawlZlib", "CTrawlBrotli"])),
        effects("TrawlURL", ["TrawlHTTP", "CTrawlCurl", "CTrawlPSL"]),
        effects("TrawlCrypto", ["CTrawlCrypto"]),
        effects("TrawlStore", allPure.union(["CTrawlLMDB", "CTrawlBlob", "TrawlPlatform"])),
        effects("TrawlTransfer", allPure.union(["CTrawlCurl", "TrawlCoding", "TrawlPlatform"])),

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
