/// The redirects that a fetch has followed.
///
/// Servers choose how long heads are, and these wait in memory until the fetch is answered. So their fields have so
/// much room together, and none where nobody is to see them. Events that tell of redirects have them all: who starts a
/// fetch reads its events (`EventChannel`).
struct FollowedRedirects: Sendable {
    /// The most bytes of field lines that are kept.
    static let mostBytes = 1 << 20

    private struct Entry {
        let hop: Response.RedirectHop
        /// Bytes of field lines kept so far, those of this one included.
        let bytes: Int
    }

    private var entries: [Entry] = []

    /// None.
    init() {}

    var count: Int { entries.count }
    var isEmpty: Bool { entries.isEmpty }

    /// As the answer has them, in the order they were followed.
    var hops: [Response.RedirectHop] { entries.map(\.hop) }

    /// - Parameter keepsFields: Whether whoever gets the answer looks at their fields.
    mutating func append(_ hop: Response.RedirectHop, keepsFields: Bool) {
        let before = entries.last?.bytes ?? 0
        let more = hop.head.fields.byteCount
        let keeps = keepsFields && more <= Self.mostBytes - before
        entries.append(Entry(hop: keeps ? hop : hop.withoutFields, bytes: keeps ? before + more : before))
    }
}

extension Response.RedirectHop {
    fileprivate var withoutFields: Response.RedirectHop {
        Response.RedirectHop(url: url, status: status, location: location, head: head.withoutFields)
    }
}

extension RunningFetch.Reply {
    /// Whether it goes to a caller of the library, who sees all of a response: the command shows where redirects were
    /// from, and their statuses.
    var showsRedirectFields: Bool {
        switch self {
        case .cell, .hop, .nobody: true
        case .queue, .driver: false
        }
    }
}
