package import TrawlHTTP

/// What of a response a later request can go on with when the response breaks off.
package struct Resumption: Sendable, Hashable {
    /// The value of `If-Range`: a strong entity tag, or a date that is a strong validator.
    package let validator: String
    /// The length of the whole representation; nil when nobody has said it.
    package var total: UInt64?

    /// A validator and a length from elsewhere.
    package init(validator: String, total: UInt64?) {
        self.validator = validator
        self.total = total
    }

    /// What the head of a whole response gives; nil when its server would not send the rest of it, or could not tell
    /// whether it is still the same.
    package init?(_ head: ResponseHead, to method: Method, now: WallTime) {
        // RFC 9110 §14.2: ranges are defined for GET alone.
        guard method == .get, head.status == 200, !Self.isCoded(head), Self.takesRanges(head),
            let validator = Self.validator(head, now: now)
        else { return nil }
        self.init(validator: validator, total: head.fields.first("Content-Length").flatMap { UInt64($0) })
    }

    /// What the response to a request for the rest means.
    package enum Step: Sendable, Hashable {
        /// It is the rest.
        case goesOn
        /// It is the whole, which is another one by now, or of a server that knows no ranges.
        case startsAnew
        /// It is neither: the whole has to be asked for.
        case asksAgain
        /// It is something else: an error, a redirect, a challenge. What is there stays as it is.
        case isOther
    }

    /// What a response to `Range: bytes=OFFSET-` with `If-Range` means.
    package func step(after head: ResponseHead, from offset: UInt64) -> Step {
        switch head.status {
        case 206:
            guard let range = ContentRange(head.fields), range.range.lowerBound == offset, !Self.isCoded(head) else {
                return .asksAgain
            }
            // A rest that is none, that may not be all of it, or one of another length than before.
            guard let end = range.total ?? total, end == range.range.upperBound, total == nil || total == end else {
                return .asksAgain
            }
            // RFC 9110 §8.6, §14.4: the body of one range is that range.
            if let announced = head.fields.first("Content-Length").flatMap({ UInt64($0) }), announced != range.length {
                return .asksAgain
            }
            // A server that overlooks If-Range, or takes an older date for the same. RFC 9110 §15.3.7 wants the tag in
            // the response; §15.3.7.3: parts are of one whole where they have the same strong validator.
            let name = validator.hasPrefix("\"") ? "ETag" : "Last-Modified"
            if let own = head.fields.first(name), own != validator { return .asksAgain }
            return .goesOn
        // RFC 9110 §15.5.17: the whole is not longer than what is there.
        case 416: return .asksAgain
        // RFC 9110 §15.3.1, §15.3.4: a proxy has changed the latter, and it is a whole all the same.
        case 200, 203: return .startsAnew
        default: return .isOther
        }
    }

    /// RFC 9110 §13.1.5: no weak tag, and a date only without a tag and when it is strong.
    private static func validator(_ head: ResponseHead, now: WallTime) -> String? {
        if let tag = head.fields.first("ETag") { return tag.hasPrefix("\"") ? tag : nil }
        guard let modified = head.fields.first("Last-Modified"), let date = head.fields.first("Date"),
            let modifiedAt = time(modified, now), let sentAt = time(date, now)
        else { return nil }
        // RFC 9110 §8.8.2.2
        return sentAt.milliseconds(since: modifiedAt) >= 1000 ? modified : nil
    }

    private static func time(_ text: String, _ now: WallTime) -> WallTime? {
        var text = text
        return text.withUTF8 { HTTPDate.parse(UnsafeRawBufferPointer($0), now: now) }
    }

    /// A part of what is coded cannot be decoded by itself.
    private static func isCoded(_ head: ResponseHead) -> Bool {
        head.fields.values("Content-Encoding").contains { $0.lowercased() != "identity" }
    }

    /// RFC 9110 §14.3. A server that does not say it may know ranges all the same; most of those that say nothing do
    /// not.
    private static func takesRanges(_ head: ResponseHead) -> Bool {
        head.fields.values("Accept-Ranges").contains { $0.lowercased() == "bytes" }
    }
}
