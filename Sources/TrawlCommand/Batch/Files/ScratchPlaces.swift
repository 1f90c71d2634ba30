import Glibc
import TrawlPlatform

/// Where the scratch files of a run are made: in the first of some directories in which they can be made at all.
struct ScratchPlaces {
    private let directories: [String]

    /// What the system says where no file can be made, or none that can be mapped for writing: direct_io of FUSE, 9p
    /// without a cache.
    private static let unfit: Set<Int32> = [
        EACCES, EPERM, EROFS, ENOENT, ENODEV, EINVAL, ENOSYS, EOPNOTSUPP,
    ]

    /// - Parameter directories: At least one.
    init(_ directories: [String]) { self.directories = directories }

    /// Beside the results, on whose disk there is room for what a run needs; else with the bodies, else where scratch
    /// files are.
    ///
    /// - Parameters:
    ///   - results: The results file; nil without one.
    ///   - output: The directory of bodies; empty without one.
    init(results: String?, output: String) {
        var directories: [String] = []
        if let results, !LocalPath.isStandardOutput(results) { directories.append(LocalPath.parent(results)) }
        if !output.isEmpty { directories.append(output) }
        // Set and empty is as good as not set.
        let temporary = getenv("TMPDIR").map { String(cString: $0) } ?? ""
        directories.append(temporary.isEmpty ? "/tmp" : temporary)
        self.init(directories)
    }

    /// What `make` makes of the first directory in which it can make a file.
    ///
    /// - Throws: What it says of the last, or of one that has no room: others are not asked for that.
    func first<Made>(_ make: (String) throws(SystemError) -> Made) throws(SystemError) -> Made {
        for directory in directories.dropLast() {
            do throws(SystemError) {
                return try make(directory)
            } catch {
                guard Self.unfit.contains(error.errno) else { throw error }
            }
        }
        return try make(directories.last ?? "/tmp")
    }
}
