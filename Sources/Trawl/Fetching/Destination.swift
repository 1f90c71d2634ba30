/// Where the body of a fetch goes.
public enum Destination: Sendable, Hashable {
    /// Into ``Response/body``.
    case memory
    /// Into a file: written beside it under a temporary name and renamed when complete, so that the path never shows
    /// a part of a body.
    ///
    /// An empty body makes no file, and a response other than 2xx stays in memory, unless the options say otherwise.
    ///
    /// A pipe, terminal or other device of that name is written to as the body comes, outside of
    /// ``Configuration/outputDirectories``; beneath them are files alone, and the fetch fails. The transfer waits for a
    /// pipe's reader, and for a slow one, as long as the fetch's own limit allows. What was written there cannot be
    /// taken back: such a fetch is not done again when its worker dies.
    ///
    /// Outside of ``Configuration/outputDirectories`` a file takes two descriptors of this process, from the start of
    /// the fetch on, also while it waits for its turn. Where many are to wait they go beneath such a directory, or into
    /// a ``FetchQueue``, which opens files when their turn comes.
    case file(String, options: FileOptions = FileOptions())
    /// Into ``Fetch/events``, piece by piece; the transfer waits for a slow reader.
    case stream
    /// Nowhere: counted and dropped.
    case discard

    /// How a body becomes a file.
    public struct FileOptions: Sendable, Hashable {
        /// Whether an earlier file is replaced; otherwise it makes the fetch fail. Default true.
        public var replaces = true
        /// Whether an empty body makes an empty file; that of a 304 never does, since nothing is new (RFC 9110
        /// §15.4.5). Default false.
        public var createsEmptyFile = false
        /// Whether the body of a response other than 2xx goes into the file too, unless part of the file is there that a
        /// download goes on with. Default false.
        public var savesErrorBodies = false
        /// Whether the file is synced to disk before it is renamed. Default false.
        public var syncs = false
        /// Whether what has come is kept beside the file when the fetch fails or is cancelled, so that it can be gone
        /// on with: ``FetchError/resumeData``. Such a fetch asks for no content coding and uses no cache; further
        /// attempts of it ask for the rest. Default false.
        public var keepsPart = false
        /// What has come of an earlier fetch, to go on with: see ``Coordinator/start(resuming:as:options:decisions:)``.
        public var resumeData: ResumeData?
        /// Whether the body of a response of 400 or more is dropped: little of it is read.
        package var dropsErrorBodies = false
        /// Whether that of a failure that may pass is, one of the statuses for which fetches are tried again.
        package var dropsPassingErrors = false
        /// Whether the name that a response suggests takes the place of the path's last part. Only beneath an output
        /// directory, and where a name that is taken gets a number.
        package var namesFromDisposition = false

        /// The defaults.
        public init() {}
    }
}
