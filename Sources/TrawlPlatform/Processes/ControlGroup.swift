import CTrawlPlatform
import Glibc

/// What the kernel says of the control group of this process.
///
/// - Source: cgroups(7), "Cgroups version 2"; the kernel's admin-guide/cgroup-v2. Of version 1 nothing is read.
enum ControlGroup {
    /// The directory of its files; nil where there are none.
    private static let directory = SystemFile.read("/proc/self/cgroup").flatMap(path).map { "/sys/fs/cgroup" + $0 }

    /// What one of its files says; nil where there is none.
    static func read(_ name: String) -> String? {
        guard let directory else { return nil }
        return SystemFile.read(directory + "/" + name)
    }

    /// The group's path in `/proc/self/cgroup`: on the line of hierarchy 0.
    static func path(_ text: String) -> String? {
        text.split(separator: "\n").first { $0.hasPrefix("0::/") }.map { String($0.dropFirst(3)) }
    }
}
