import TrawlHTTP
import TrawlPlatform
import TrawlProtocol

/// A checked request, ready for the supervisor: made on the caller's thread, never changed.
struct FetchPlan: Sendable {
    /// What goes along with the request.
    enum Body: Sendable, Equatable {
        case none
        case inline([UInt8])
        /// Too long for a frame: a memory file.
        case file(MemoryBody)

        /// Its length.
        var count: Int {
            switch self {
            case .none: 0
            case .inline(let bytes): bytes.count
            case .file(let file): file.count
            }
        }

        static func == (left: Body, right: Body) -> Bool {
            switch (left, right) {
            case (.none, .none): true
            case (.inline(let left), .inline(let right)): left == right
            case (.file(let left), .file(let right)): left === right
            case (.none, _), (.inline, _), (.file, _): false
            }
        }
    }

    /// Where the response's body goes.
    enum Target: Sendable {
        case memory
        case discard
        case stream
        /// Written by the worker beneath one of the configured output directories.
        case rooted(root: Int, path: String, collision: FileCollision)
        /// Written by the worker to a file the coordinator opened.
        case opened(OpenedDestination)

        /// Whether the worker itself gives a complete file its name.
        var isNamedByWorker: Bool {
            switch self {
            case .rooted: true
            case .memory, .discard, .stream, .opened: false
            }
        }
    }

    let originalURL: String
    let target: TargetURI
    let method: Method
    let fields: FieldLines
    let body: Body
    let sink: Target
    let fileOptions: Destination.FileOptions
    /// The path the caller named.
    let path: String?
    /// Options, shared with other fetches.
    let terms: FetchTerms
    /// Whether heads are wanted as they come.
    let wantsEvents: Bool

    var options: RequestOptions { terms.options }
    var profile: TransferProfile { terms.profile }
}

/// A request body kept in a memory file, so that it can be sent again and handed to any worker.
final class MemoryBody: Sendable {
    let file: MemoryFile
    let count: Int

    init(_ bytes: [UInt8]) throws(SystemError) {
        let signal = FileSizeSignal()
        defer { signal.release() }
        let file = try MemoryFile(name: "trawl-request")
        let written: Result<Void, SystemError> = bytes.withUnsafeBytes { bytes in
            do throws(SystemError) {
                try file.write(bytes)
                try file.seal()
                return .success(())
            } catch {
                return .failure(error)
            }
        }
        try written.get()
        self.file = file
        count = bytes.count
    }
}
