import Glibc
import TrawlHTTP
import TrawlJSON

/// What one line says: `URL`, or `URL`, a tab and a file name, or a JSON object, whose first byte that is not blank is
/// `{`.
///
/// Empty lines say nothing, nor do lines of a list that start with `#`. One reader serves `batch`, `pipe` and the lists
/// of `get`.
enum RequestLine: Equatable {
    /// What kinds of lines there may be.
    enum Form {
        /// URLs and objects, which may name a file by `out`.
        case list
        /// URLs alone.
        case plain
        /// Objects alone, without `out`.
        case pipe
    }

    case nothing
    case request(ListedRequest)
    case bad(BadLine)

    /// Reads a line, which is UTF-8 without its end.
    ///
    /// - Parameter directory: The path from the root of the directory that files are named in. What a line names
    ///   beneath it in that way is as good as the rest of it.
    init(_ line: UnsafeRawBufferPointer, _ form: Form, beneath directory: String? = nil) {
        let line = Self.trimmed(line)
        guard let first = line.first else {
            self = .nothing
            return
        }
        switch (first, form) {
        case (UInt8(ascii: "{"), .plain): self = .bad(BadLine(reason: "JSON lines are for trawl batch"))
        case (UInt8(ascii: "{"), _):
            var object = RequestObject(form, beneath: directory)
            self = object.read(line)
        case (UInt8(ascii: "#"), .list), (UInt8(ascii: "#"), .plain): self = .nothing
        case (_, .list), (_, .plain): self = Self.plain(line, beneath: directory)
        case (_, .pipe): self = .bad(BadLine(reason: "the line is not a JSON object"))
        }
    }

    /// What is known of a line that could not be read whole: too long, or not UTF-8 from some place on.
    ///
    /// - Parameter reason: Why it could not.
    static func broken(_ start: UnsafeRawBufferPointer, _ reason: String) -> BadLine {
        guard beginsObject(start) else { return BadLine(reason: reason) }
        let line = trimmed(start)
        var object = RequestObject(.pipe)
        switch object.read(UnsafeRawBufferPointer(rebasing: line[..<(UTF8Bytes.firstFault(in: line) ?? line.count)])) {
        case .bad(let bad): return BadLine(reason: reason, id: bad.id, url: bad.url)
        // What follows is wrong, or too much.
        case .request(let request):
            return BadLine(reason: reason, id: request.id, url: request.shownURL)
        case .nothing: return BadLine(reason: reason)
        }
    }

    /// Whether a line is meant to be an object of JSON, well formed or not.
    static func beginsObject(_ line: UnsafeRawBufferPointer) -> Bool { trimmed(line).first == UInt8(ascii: "{") }

    private static func trimmed(_ line: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        var start = 0
        var end = line.count
        while start < end, isBlank(line[start]) { start += 1 }
        while end > start, isBlank(line[end - 1]) || line[end - 1] == 0x0D { end -= 1 }
        return UnsafeRawBufferPointer(rebasing: line[start..<end])
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

    /// `URL` or `URL<TAB>FILE`. The hot path of long lists: two or three allocations.
    private static func plain(_ line: UnsafeRawBufferPointer, beneath directory: String?) -> RequestLine {
        guard let start = line.baseAddress, let found = memchr(start, 0x09, line.count) else {
            return .request(ListedRequest(url: URLText.completed(line), out: nil))
        }
        let tab = UnsafeRawPointer(found) - start
        let url = URLText.completed(trimmed(UnsafeRawBufferPointer(rebasing: line[..<tab])))
        let given = String(decoding: UnsafeRawBufferPointer(rebasing: line[(tab + 1)...]), as: UTF8.self)
        let out = LocalPath.relative(given, to: directory)
        if let fault = LocalPath.nameFault(of: out) {
            return .bad(BadLine(reason: reason(fault), id: nil, url: UserInformation.removed(from: url)))
        }
        return .request(ListedRequest(url: url, out: out))
    }

    static let badOut = "the file name must be relative and stay inside the output directory"
    static let longOut = "the file name is longer than 4095 bytes, or a part of it longer than 255"

    static func reason(_ fault: LocalPath.NameFault) -> String {
        switch fault {
        case .leadsOut: badOut
        case .tooLong: longOut
        }
    }
}
