import Trawl
import TrawlPlatform

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
    private let list: LineReader?
    private let listName: String
    private var lineNumber = 0

    init(urls: [String], fileNames: [String], list: String?) throws(CommandError) {
        arguments =
            urls.enumerated().map { index, url in
                FetchItem(
                    url: URLText.completed(url), place: "",
                    fileName: fileNames.indices.contains(index) ? fileNames[index] : nil)
            }[...]
        listName = list == "-" ? "standard input" : list?.terminalSafe ?? ""
        guard let list else {
            self.list = nil
            return
        }
        do throws(SystemError) {
            self.list = try LineReader(list)
        } catch {
            throw CommandError("\(listName): \(SystemError.reason(error.errno))")
        }
    }

    /// The next URL.
    /// - Throws: When the list cannot be read on.
    mutating func next(interrupt: Int32) throws(CommandError) -> Next {
        if let item = arguments.popFirst() { return .item(item) }
        guard let list else { return .end }
        while true {
            let line: [UInt8]
            do throws(SystemError) {
                switch try list.next(interrupt: interrupt) {
                case .line(let bytes): line = bytes
                case .end: return .end
                case .interrupted: return .interrupted
                }
            } catch {
                throw CommandError("\(listName): \(SystemError.reason(error.errno))")
            }
            lineNumber += 1
            if line.contains(0) { throw CommandError("\(listName):\(lineNumber): not a list of URLs: it holds a NUL") }
            let place = "\(listName):\(lineNumber): "
            switch ListLine(line) {
            case .nothing: continue
            case .bad(let reason): return .bad(place: place, reason: reason)
            case .url(let url, let fileName):
                return .item(FetchItem(url: URLText.completed(url), place: place, fileName: fileName))
            }
        }
    }
}
