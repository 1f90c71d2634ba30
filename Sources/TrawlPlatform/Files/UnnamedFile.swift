import CTrawlPlatform

/// Open files without a name (O_TMPFILE).
package enum UnnamedFile {
    /// Whether this process can give names to open files at all; where it cannot, files have names from the start.
    package static let canBeNamed: Bool = {
        guard let file = try? MemoryFile(name: "trawl-probe") else { return true }
        return isNameable(file.descriptor.rawValue)
    }()

    /// Whether the system finds an open file to give it a name: that takes a privilege or /proc, but for a file of the
    /// same process since Linux 6.10 (linkat(2), AT_EMPTY_PATH).
    static func isNameable(_ file: Int32) -> Bool { cplatform_can_link_open(file) != 0 }

    /// Gives one a name; never replaces a file that has it.
    ///
    /// - Parameters:
    ///   - directory: Where the name is looked up from, or `AT_FDCWD`.
    /// - Returns: Zero, or `-errno`: `EEXIST` when something has the name; something else where there are no hard links,
    ///   or where they take a privilege or /proc and there is neither (linkat(2), AT_EMPTY_PATH).
    package static func link(_ file: Int32, in directory: Int32, as name: UnsafePointer<CChar>) -> Int32 {
        cplatform_link_open(file, directory, name)
    }
}
