import Trawl
import TrawlHTTP
import TrawlJSON
import TrawlPlatform

/// One line of a results file: what became of one request.
///
/// The members and their meaning are in docs/results.md; a change of meaning is a new `v`.
struct ResultRecord {
    /// How every record of this program begins, so that a file of something else is never mended or appended to.
    static let beginning = Array(#"{"v":1,"#.utf8)

    let fetch: FetchInFlight
    /// Relative to the output directory; nil when no file was written.
    let file: String?
    /// Whether it counts as fetched.
    let isSuccess: Bool
    /// When it ended.
    let time: RecordTime
    /// From the reading of its line to its end, waiting included, in microseconds.
    let elapsed: UInt64

    /// Appends the record as one line.
    ///
    /// - Parameter result: What the request came to.
    func write(_ result: Result<Response, FetchError>, to writer: inout JSONWriter) {
        Self.begin(fetch.line, fetch.request.id, &writer)
        let url = fetch.request.shownURL
        writer.verbatim(#","url":"#)
        writer.string(url)
        writer.verbatim(#","key":"#)
        fetch.request.key.write(to: &writer)
        writer.verbatim(isSuccess ? #","ok":true"# : #","ok":false"#)
        switch result {
        case .success(let response): write(response, askedFor: url, to: &writer)
        case .failure(let error): Self.write(error, to: &writer)
        }
        if fetch.isAgain { Self.writeAgain(to: &writer) }
        if fetch.attempts > 1 {
            writer.key("attempts")
            writer.integer(fetch.attempts)
        }
        time.write(to: &writer)
        writer.verbatim(#","seconds":"#)
        writer.seconds(microseconds: elapsed)
        writer.verbatim("}\n")
    }

    /// Appends the record of a line that is no request.
    static func write(_ bad: BadLine, line: Int, isAgain: Bool, time: RecordTime, to writer: inout JSONWriter) {
        begin(line, bad.id, &writer)
        if let url = bad.url {
            writer.key("url")
            writer.string(url)
        }
        writer.key("key")
        Self.key(of: bad, line: line).write(to: &writer)
        writer.verbatim(#","ok":false"#)
        write(FetchError(.badRequest, bad.reason), to: &writer)
        if isAgain { writeAgain(to: &writer) }
        time.write(to: &writer)
        writer.verbatim("}\n")
    }

    /// What a second run knows a line by that is no request: its place and what is wrong with it.
    static func key(of bad: BadLine, line: Int) -> RequestKey {
        RequestKey(bytes: "\(line) \(bad.reason)".utf8)
    }

    /// The version that a whole line has, be it that another program has written it anew, with blanks and in another
    /// order; nil when it is no JSON object or says none.
    static func version(of line: UnsafeRawBufferPointer) -> Int? {
        do throws(JSONError) {
            var reader = try JSONReader(line)
            var version: Int?
            try reader.beginObject()
            while let name = try reader.nextMember() {
                if reader.isEqual(name, "v"), try reader.peek() == .number {
                    version = try reader.readNumber().wholeNumber
                } else {
                    _ = try reader.skipValue()
                }
            }
            try reader.finish()
            return version
        } catch {
            return nil
        }
    }

    private static func begin(_ line: Int, _ id: RequestID?, _ writer: inout JSONWriter) {
        writer.verbatim(#"{"v":1,"line":"#)
        writer.integer(line)
        guard let id else { return }
        writer.key("id")
        id.json.withUnsafeBytes { writer.raw($0) }
    }

    /// - Parameter url: The record's.
    private func write(_ response: Response, askedFor url: String, to writer: inout JSONWriter) {
        writer.verbatim(#","status":"#)
        writer.integer(response.status)
        if response.url != url {
            writer.key("final_url")
            writer.string(response.url)
        }
        if !response.redirects.isEmpty {
            writer.key("redirects")
            writer.integer(response.redirects.count)
        }
        if let file {
            writer.verbatim(#","file":"#)
            writer.string(file)
        }
        writer.verbatim(#","bytes":"#)
        writer.integer(response.receivedLength)
        if response.source != .network {
            writer.key("source")
            writer.string(response.source.rawValue)
        }
        response.fields.withFirst("Content-Type") { type in
            guard let type else { return }
            writer.verbatim(#","content_type":"#)
            writer.string(lossyUTF8: type)
        }
    }

    private static func writeAgain(to writer: inout JSONWriter) {
        writer.key("again")
        writer.bool(true)
    }

    private static func write(_ error: FetchError, to writer: inout JSONWriter) {
        writer.key("error")
        writer.beginObject()
        writer.key("code")
        writer.string(error.code.rawValue)
        writer.key("message")
        writer.string(error.detail)
        writer.endObject()
    }
}

/// When requests ended, as their records tell it: all of a turn have the time in common, and it is printed once.
struct RecordTime {
    /// The member of that name.
    private var member = JSONWriter()

    /// - Parameter microseconds: Since 1970.
    init(microseconds: UInt64 = 0) {
        set(microseconds: microseconds)
    }

    /// Another time takes its place.
    ///
    /// - Parameter microseconds: Since 1970.
    mutating func set(microseconds: UInt64) {
        member.removeAll()
        member.key("time")
        member.seconds(microseconds: microseconds)
    }

    fileprivate func write(to writer: inout JSONWriter) {
        member.withUnsafeBytes { writer.raw($0) }
    }
}

/// What a second run reads back of a record.
struct FinishedRecord {
    let key: RequestKey
    let isSuccess: Bool
    /// Whether it takes the place of an earlier record of a failure.
    let isAgain: Bool
    let file: String?

    /// - Returns: Nil when the line is not a whole record.
    init?(_ line: UnsafeRawBufferPointer) {
        var key: RequestKey?
        var isSuccess: Bool?
        var isAgain = false
        var file: String?
        do throws(JSONError) {
            var reader = try JSONReader(line)
            try reader.beginObject()
            while let name = try reader.nextMember() {
                if reader.isEqual(name, "key") {
                    key = RequestKey(hexadecimal: try reader.text(of: reader.readString()))
                } else if reader.isEqual(name, "ok") {
                    isSuccess = try reader.readBool()
                } else if reader.isEqual(name, "again") {
                    isAgain = try reader.readBool()
                } else if reader.isEqual(name, "file") {
                    file = try reader.text(of: reader.readString())
                } else {
                    _ = try reader.skipValue()
                }
            }
            try reader.finish()
        } catch {
            return nil
        }
        guard let key, let isSuccess else { return nil }
        self.key = key
        self.isSuccess = isSuccess
        self.isAgain = isAgain
        self.file = file
    }
}

extension RequestKey {
    /// Writes the hexadecimal digits as a string.
    func write(to writer: inout JSONWriter) {
        withQuotedDigits { writer.raw($0) }
    }
}
