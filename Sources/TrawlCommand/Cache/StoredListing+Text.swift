import Trawl
import TrawlCache
import TrawlHTTP
import TrawlJSON
import TrawlStore

extension StoredListing {
    /// - Source: RFC 9111 §4.2, §5.2.2.4.
    func standing(at now: WallTime) -> StoredStanding {
        if response.facts.flags.contains(.noCache) { return .noCache }
        return response.facts.isFresh(at: now) ? .fresh : .stale
    }

    /// Seconds until it is stale; below zero since when it is, zero where nobody knows.
    func freshFor(at now: WallTime) -> Int64 {
        if response.facts.isAhead(of: now) { return 0 }
        let (left, overflow) = response.facts.lifetime.subtractingReportingOverflow(response.facts.age(at: now))
        return (overflow ? .min : left) / 1000
    }

    /// Seconds since it was generated.
    func age(at now: WallTime) -> Int64 { max(0, response.facts.age(at: now) / 1000) }

    /// The head of the columns of `line(at:)`.
    static let heading = "STATUS  LENGTH   AGE  FRESHNESS    KEPT       URL"

    /// One line in columns, safe on a terminal; what may be long is at the end.
    func line(at now: WallTime) -> String {
        let standing = standing(at: now)
        let freshness =
            standing == .noCache
            ? standing.rawValue : "\(standing.rawValue) \(ShortTime.text(freshFor(at: now).magnitude))"
        let length = ByteText.short(bodyLength) + (response.facts.body.isComplete ? "" : "+")
        var line = "\(response.head.status)".padded(to: 6) + length.aligned(to: 8)
        line += ShortTime.text(UInt64(age(at: now))).aligned(to: 6) + "  " + freshness.padded(to: 13)
        line += (isOfSession ? "session" : "permanent").padded(to: 11) + url.terminalSafe
        let fields = response.head.fields
        if let tag = fields.first("ETag") { line += "  etag \(tag.terminalSafe)" }
        if let vary = fields.combined("Vary") { line += "  vary \(vary.terminalSafe)" }
        return line
    }

    /// Writes the members that docs/cache.md names.
    func write(to writer: inout JSONWriter, at now: WallTime) {
        writer.key("url")
        writer.string(url)
        writer.key("status")
        writer.integer(UInt64(response.head.status))
        writer.key("length")
        writer.integer(bodyLength)
        if !response.facts.body.isComplete {
            writer.key("first")
            writer.integer(response.facts.body.first)
            if let total = response.facts.body.total {
                writer.key("total")
                writer.integer(total)
            }
        }
        writer.key("stored")
        writer.seconds(microseconds: UInt64(clamping: max(0, stored.milliseconds).multipliedClamping(by: 1000)))
        writer.key("age")
        writer.integer(Int(age(at: now)))
        writer.key("freshness")
        writer.string(standing(at: now).rawValue)
        writer.key("fresh_for")
        writer.integer(Int(freshFor(at: now)))
        writer.key("kept")
        writer.string(isOfSession ? "session" : "permanent")
        write("Content-Type", as: "content_type", to: &writer)
        write("Content-Encoding", as: "content_encoding", to: &writer)
        write("ETag", as: "etag", to: &writer)
        write("Last-Modified", as: "last_modified", to: &writer)
        write("Vary", as: "vary", to: &writer)
    }

    /// A field's values, when the response has them.
    private func write(_ name: String, as key: StaticString, to writer: inout JSONWriter) {
        guard let value = response.head.fields.combined(name) else { return }
        writer.key(key)
        writer.string(value)
    }
}
