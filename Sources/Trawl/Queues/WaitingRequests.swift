import TrawlFrontier

/// The requests of a queue that wait, in little room: what is the same as in the request before is kept once.
struct WaitingRequests {
    /// Everything of a request but its URL, and everything of a destination but its path.
    private final class Shape: Sendable {
        let request: Request
        let destination: Destination
        private let texts: NonASCIITexts

        init(_ request: Request, _ destination: Destination) {
            self.request = request
            self.destination = destination
            texts = NonASCIITexts(request, destination)
        }

        /// Whether it is that of a request and a destination, byte for byte.
        func isOf(_ request: Request, _ destination: Destination) -> Bool {
            self.destination == destination && self.request == request
                && texts == NonASCIITexts(request, destination)
        }
    }

    /// 48 bytes.
    private struct Entry {
        var url = ""
        var path = ""
        var shape: Shape?
        var generation: UInt32 = 0
    }

    /// By the place of the fetch.
    private var entries: [Entry] = []
    private var latest: Shape?

    mutating func keep(_ request: Request, _ destination: Destination, for id: QueueMachine.FetchID) {
        var entry = Entry(url: request.url, generation: id.generation)
        var bare = request
        bare.url = ""
        var place = destination
        if case .file(let path, let options) = destination {
            entry.path = path
            place = .file("", options: options)
        }
        if let latest, latest.isOf(bare, place) {
            entry.shape = latest
        } else {
            let shape = Shape(bare, place)
            entry.shape = shape
            latest = shape
        }
        while entries.count <= id.place { entries.append(Entry()) }
        entries[id.place] = entry
    }

    /// The request of a fetch that waits; nil when it does not.
    func look(at id: QueueMachine.FetchID) -> (Request, Destination)? {
        guard let entry = entry(of: id), let shape = entry.shape else { return nil }
        var request = shape.request
        request.url = entry.url
        guard case .file(_, let options) = shape.destination else { return (request, shape.destination) }
        return (request, .file(entry.path, options: options))
    }

    mutating func take(_ id: QueueMachine.FetchID) -> (Request, Destination)? {
        defer { drop(id) }
        return look(at: id)
    }

    /// It waits no longer.
    mutating func drop(_ id: QueueMachine.FetchID) {
        guard entry(of: id) != nil else { return }
        entries[id.place] = Entry(generation: id.generation)
    }

    /// None waits: gives the memory of many back.
    mutating func giveBackPlaces() {
        if entries.count > Self.mostKept { self = WaitingRequests() }
    }

    /// Places that are kept for later ones.
    private static let mostKept = 1024

    /// Method and URL of a fetch that waits.
    func name(of id: QueueMachine.FetchID) -> (Request.Method, String)? {
        guard let entry = entry(of: id), let shape = entry.shape else { return nil }
        return (shape.request.effectiveMethod, entry.url)
    }

    private func entry(of id: QueueMachine.FetchID) -> Entry? {
        guard id.place < entries.count, entries[id.place].generation == id.generation else { return nil }
        return entries[id.place]
    }

    /// The path in a URL (RFC 3986 §3.3); that of none is `/` (RFC 9110 §4.2.3).
    static func path(of url: String) -> String {
        let bytes = url.utf8
        var start = bytes.startIndex
        // The authority ends at the first slash, question mark or number sign after `//` (RFC 3986 §3.2).
        if let mark = url.firstRange(of: "://") { start = mark.upperBound }
        let isEnd: (UInt8) -> Bool = { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") }
        guard let first = bytes[start...].firstIndex(where: { $0 == UInt8(ascii: "/") || isEnd($0) }),
            bytes[first] == UInt8(ascii: "/")
        else { return "/" }
        return String(url[first..<(bytes[first...].firstIndex(where: isEnd) ?? bytes.endIndex)])
    }
}
