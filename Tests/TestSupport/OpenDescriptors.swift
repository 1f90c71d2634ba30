import Foundation
import Glibc

/// The descriptors that this process has.
package enum OpenDescriptors {
    /// Those whose path is one that is looked for; the path of a file without a name ends in `(deleted)`.
    package static func leading(
        toPathWhere isLookedFor: (_ path: String) -> Bool
    ) throws -> [(number: Int32, path: String)] {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap { name in
            guard let number = Int32(name),
                let path = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/" + name),
                isLookedFor(path)
            else { return nil }
            return (number, path)
        }
    }

    /// Copies of those that lead to a file: what a process that is being started has of them, until it executes its
    /// program. The caller closes them.
    package static func copies(of path: String) throws -> [Int32] {
        guard let resolved = realpath(path, nil) else { return [] }
        defer { free(resolved) }
        let whole = String(cString: resolved)
        return try leading { $0 == whole }.map { fcntl($0.number, F_DUPFD_CLOEXEC, 0) }.filter { $0 >= 0 }
    }
}
