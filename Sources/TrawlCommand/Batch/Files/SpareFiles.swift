import TrawlPlatform

/// Files of this run that go at its end, when no request in flight can take them over any more: those under names that
/// records of an earlier run have, which have got another name.
struct SpareFiles {
    /// So many are remembered; more of them stay.
    private static let most = 4096

    private var files: [(path: String, identity: FileIdentity)] = []

    /// - Parameter path: Relative to the root, as the file is found there now.
    mutating func add(_ path: String, in root: OutputRoot) {
        guard files.count < Self.most, let identity = try? root.identity(of: path) else { return }
        files.append((path, identity))
    }

    /// Removes those that are still the same files: others may have come to their names since.
    ///
    /// - Parameter isNamed: Whether a record of this run names a file by now.
    mutating func remove(in root: OutputRoot, unless isNamed: (String) -> Bool) {
        for file in files where !isNamed(file.path) && (try? root.identity(of: file.path)) == file.identity {
            root.remove(file.path)
        }
        files = []
    }
}
