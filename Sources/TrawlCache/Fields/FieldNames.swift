import TrawlHTTP

/// Names of fields, found without regard to case.
///
/// A head may hold tens of thousands of names, and lists of as many more: what one costs to find does not depend on how
/// many there are, whoever chose them.
struct FieldNames {
    /// In lower case.
    private var names: Set<String> = []

    /// Adds a name, unless it is there.
    mutating func insert(_ name: UnsafeRawBufferPointer) { names.insert(Self.lowercased(name)) }

    /// Whether a name was added, in whatever case.
    func contains(_ name: UnsafeRawBufferPointer) -> Bool { !names.isEmpty && names.contains(Self.lowercased(name)) }

    /// Up to 15 bytes, as most names have, take no memory of their own.
    private static func lowercased(_ name: UnsafeRawBufferPointer) -> String {
        String(unsafeUninitializedCapacity: name.count) { room in
            for index in 0..<name.count { room.initializeElement(at: index, to: FieldSyntax.lowercased(name[index])) }
            return name.count
        }
    }
}
