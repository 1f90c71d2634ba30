/// One URL to fetch.
struct FetchItem: Sendable, Equatable {
    let url: String
    /// Where it was named, for messages: empty, or `list:12: `.
    let place: String
    /// The file the user wants; nil when the name follows from the URL.
    let fileName: String?
}

/// The URLs of a run in order: those of the arguments, then those of the list, which is read as it is needed.
///
/// Bound to one thread.
struct URLSource {
    enum Next {
        case item(FetchItem)
        /// A line that names no URL.
        case bad(place: String, reason: String)
        case end
        case interrupted
    }

    private var arguments: ArraySlice<FetchItem>
    private let list: ListReader?

    init(urls: [String], fileNames: [String], list: String?) throws(CommandError) {
        arguments =
            urls.enumerated().map { index, url in
                FetchItem(
                    url: URLText.completed(url), place: "",
                    fileName: fileNames.indices.contains(index) ? fileNames[index] : nil)
            }[...]
        self.list = try list.map(Self.open)
    }

    private static func open(_ path: String) throws(CommandError) -> ListReader {
        try ListReader(path)
    }

    /// The next URL.
    /// - Throws: When the list cannot be read on.
    mutating func next(interrupt: Int32) throws(CommandError) -> Next {
        if let item = arguments.popFirst() { return .item(item) }
        guard let list else { return .end }
        while true {
            switch try list.next(interrupt: interrupt) {
            case .end: return .end
            case .interrupted: return .interrupted
            case .bad(let number, let reason, _): return .bad(place: list.place(number), reason: reason)
            case .line(let number, let bytes):
                switch RequestLine(bytes, .plain) {
                case .nothing: continue
                case .bad(let bad): return .bad(place: list.place(number), reason: bad.reason)
                case .request(let request):
                    return .item(FetchItem(url: request.url, place: list.place(number), fileName: request.out))
                }
            }
        }
    }
}
