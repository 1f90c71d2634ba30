import CPlatform

/// Open files without a name (O_TMPFILE).
package enum UnnamedFile {
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
