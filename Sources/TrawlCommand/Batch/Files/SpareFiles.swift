import TrawlPlatform

/// Files of this run under names that records of an earlier one have, since the files of those were taken away. Each
/// has got another name; the first one goes at the end, when no request in flight can take it over any more.
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
    mutating func remove(in root: OutputRoot) {
        for file in files where (try? root.identity(of: file.path)) == file.identity { root.remove(file.path) }
        files = []
    }
}
