import Trawl
import TrawlJSON
import TrawlPlatform

/// One line of a results file: what became of one request.
///
/// The members and their meaning are in docs/results.md; a change of meaning is a new `v`.
struct ResultRecord {
    /// The version of the format.
    static let version = 1
    /// How every record begins, so that a file of something else is never mended or appended to.
    static let beginning = Array(#"{"v":1,"#.utf8)

    let request: ListedRequest
    let line: Int
    let result: Result<Response, FetchError>
    /// Relative to the output directory; nil when no file was written.
    let file: String?
    /// Whether it counts as fetched.
    let isSuccess: Bool
    /// Whether it takes the place of an earlier run's record of a failure.
    let isAgain: Bool
    /// Retries included.
    let attempts: Int
    /// When it ended, in microseconds since 1970.
    let time: UInt64
    /// From the reading of its line to its end, waiting included, in microseconds.
    let elapsed: UInt64

    /// Appends the record as one line.
    func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.key("v")
        writer.integer(Self.version)
        writeRequest(to: &writer)
        writer.key("ok")
        writer.bool(isSuccess)
        switch result {
        case .success(let response): write(response, to: &writer)
        case .failure(let error): Self.write(error, to: &writer)
        }
        if isAgain { Self.writeAgain(to: &writer) }
        if attempts > 1 {
            writer.key("attempts")
            writer.integer(attempts)
        }
        writer.key("time")
        writer.seconds(microseconds: time)
        writer.key("seconds")
        writer.seconds(microseconds: elapsed)
        writer.endObject()
        writer.endLine()
    }

    /// Appends the record of a line that is no request.
    static func write(_ bad: BadLine, line: Int, isAgain: Bool, time: UInt64, to writer: inout JSONWriter) {
        writer.beginObject()
        writer.key("v")
        writer.integer(version)
        writer.key("line")
        writer.integer(line)
        if let id = bad.id {
            writer.key("id")
            id.json.withUnsafeBytes { writer.raw($0) }
        }
        if let url = bad.url {
            writer.key("url")
            writer.string(url)
        }
        writer.key("key")
        Self.key(of: bad, line: line).write(to: &writer)
        writer.key("ok")
        writer.bool(false)
        write(FetchError(.badRequest, bad.reason), to: &writer)
        if isAgain { writeAgain(to: &writer) }
        writer.key("time")
        writer.seconds(microseconds: time)
        writer.endObject()
        writer.endLine()
    }

    /// What a second run knows a line by that is no request: its place and what is wrong with it.
    static func key(of bad: BadLine, line: Int) -> RequestKey {
        RequestKey(bytes: "\(line) \(bad.reason)".utf8)
    }

    private func writeRequest(to writer: inout JSONWriter) {
        writer.key("line")
        writer.integer(line)
        if let id = request.id {
            writer.key("id")
            id.json.withUnsafeBytes { writer.raw($0) }
        }
        writer.key("url")
        writer.string(URLText.withoutUserInformation(request.url))
        writer.key("key")
        request.key.write(to: &writer)
    }

    private func write(_ response: Response, to writer: inout JSONWriter) {
        writer.key("status")
        writer.integer(response.status)
        if response.url != request.url {
            writer.key("final_url")
            writer.string(response.url)
        }
        if !response.redirects.isEmpty {
            writer.key("redirects")
            writer.integer(response.redirects.count)
        }
        if let file {
            writer.key("file")
            writer.string(file)
        }
        writer.key("bytes")
        writer.integer(response.receivedLength)
        if response.source != .network {
            writer.key("source")
            writer.string(response.source.rawValue)
        }
        response.fields.withFirst("Content-Type") { type in
            guard let type else { return }
            writer.key("content_type")
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
