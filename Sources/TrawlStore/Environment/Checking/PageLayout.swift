/// LMDB's data file, format 1: numbers of its page headers, nodes and meta pages, as its `lmdb.h` library lays them out
/// on a little-endian machine with 64-bit words. Pages have 4 KiB, whatever the system's have: we begin the file.
enum PageLayout {
    static let size = 4096
    static let headerSize = 16
    static let nodeHeaderSize = 8
    /// The longest key of a table.
    static let longestKey = 511
    /// The root of an empty tree.
    static let noPage = UInt64.max
    /// LMDB keeps no path longer than this either.
    static let deepest = 16

    // Flags of pages. On disk a page has exactly one of them.
    static let branch: UInt16 = 0x01
    static let leaf: UInt16 = 0x02
    static let overflow: UInt16 = 0x04
    static let meta: UInt16 = 0x08

    // Flags of leaf nodes.
    static let bigValue: UInt16 = 0x01
    static let subTable: UInt16 = 0x02

    // Flags of tables.
    static let integerKeys: UInt16 = 0x08

    // Offsets in a page's header.
    static let flags = 10
    static let lower = 12
    static let upper = 14
    static let runLength = 12

    // Offsets in a meta page, and the size of a table's record.
    static let metaMagic = 16
    static let metaVersion = 20
    static let metaMapSize = 32
    static let metaFreeTable = 40
    static let metaMainTable = 88
    static let metaLastPage = 136
    static let metaTransaction = 144
    static let tableRecordSize = 48

    // Offsets in a table's record.
    static let tableFlags = 4
    static let tableRoot = 40

    static let magic: UInt32 = 0xBEEF_C0DE
    static let version: UInt32 = 1

    /// How many pages in a row hold a value of that size that did not fit into a leaf.
    @inline(__always)
    static func run(ofValue size: Int) -> UInt64 {
        UInt64((headerSize - 1 + size) / Self.size + 1)
    }
}

/// What contradicts what in a data file.
struct Damage: Error, Equatable, Sendable {
    enum Kind: UInt8, Sendable {
        case pageOutside, pageNumber, pageFlags, pageBounds, node, key, value, run, depth, order, count, twice
        case freeList, meta, table
    }

    let kind: Kind
    let page: UInt64

    var detail: String {
        let what =
            switch kind {
            case .pageOutside: "names a page outside of the file"
            case .pageNumber: "has another page's number"
            case .pageFlags: "is not of the kind it should be"
            case .pageBounds: "has impossible bounds"
            case .node: "has a row outside of its bounds"
            case .key: "has a key of an impossible size"
            case .value: "has a value of an impossible kind"
            case .run: "does not start the run of pages it should"
            case .depth: "has an impossible depth below it"
            case .order: "has keys out of order"
            case .count: "counts rows or pages that are not there"
            case .twice: "is used twice"
            case .freeList: "has an impossible list of free pages"
            case .meta: "is no usable meta page"
            case .table: "has an impossible table record"
            }
        return "page \(page) \(what)"
    }
}
