/// A named table of an environment.
package struct Table: Sendable, Hashable {
    /// What its keys are.
    package enum Keys: Sendable, Hashable {
        /// Unsigned 64-bit numbers, in order of size.
        case integers
        /// 1 to 511 bytes, in order of their bytes.
        case bytes
    }

    /// Its place in the settings' list of tables.
    package let index: Int
    /// What it is called in the environment.
    package let name: String
    /// What its keys are.
    package let keys: Keys
    /// Bytes of its longest key.
    package let longestKey: Int

    /// The most tables an environment has.
    package static let limit = 15

    /// A table; `name` is 1 to 64 bytes and never changes once files exist.
    ///
    /// - Parameter longestKey: Bytes of the longest key of bytes. The shorter, the less is looked at before a write.
    package init(_ index: Int, _ name: String, _ keys: Keys, longestKey: Int = 511) {
        precondition((0..<Table.limit).contains(index), "an environment has at most \(Table.limit) tables")
        precondition((1...64).contains(name.utf8.count), "a table's name has 1 to 64 bytes")
        self.index = index
        self.name = name
        precondition((1...PageLayout.longestKey).contains(longestKey), "a key has 1 to 511 bytes")
        self.keys = keys
        self.longestKey = keys == .integers ? 8 : longestKey
    }
}

/// The size of a table, in pages of 4 KiB and rows.
package struct TableStatistics: Sendable, Hashable {
    /// Keys with a value.
    package let rows: UInt64
    /// Pages that lead to others.
    package let branchPages: UInt64
    /// Pages of keys with their values.
    package let leafPages: UInt64
    /// Pages of values too long for those.
    package let overflowPages: UInt64
    /// Levels from the root to the leaves; 0 when empty.
    package let depth: Int

    /// All its pages.
    package var pages: UInt64 { branchPages &+ leafPages &+ overflowPages }
}
