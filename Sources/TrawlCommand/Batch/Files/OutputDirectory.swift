import TrawlPlatform

/// The directory a run puts its files beneath, held open from the start, as workers do.
///
/// Who moves it moves the run's files along; who removes it, or takes the right to write away, has ended the run: every
/// further request would fail, and no later run would do it again.
final class OutputDirectory {
    /// For files that this process makes there. Bound to one thread at a time.
    let root: OutputRoot

    /// Opens an existing directory to which this process may add files.
    init(_ path: String) throws(SystemError) {
        root = try OutputRoot(path: path)
        if let obstacle { throw SystemError(errno: obstacle, call: "access") }
    }

    /// Why no file can be made there, as `errno`; nil when one can.
    var obstacle: Int32? { root.obstacle }
}
