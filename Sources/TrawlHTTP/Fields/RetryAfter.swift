/// What a response's `Retry-After` asks for: a number of seconds or a date.
///
/// - Source: RFC 9110 §10.2.3.
package enum RetryAfter: Sendable, Hashable {
    /// So many seconds after the response was received; `UInt64.max` stands for all that is more.
    case seconds(UInt64)
    /// Not before that moment, by the server's clock.
    case date(WallTime)

    /// What has to wait.
    package enum Reach: Sendable, Hashable {
        /// Every request to the origin.
        case origin
        /// The request to where the response redirects.
        case redirectedRequest
        /// This request alone, should it be made again.
        case request
    }

    /// The meaning of a field value, or nil when it has none.
    ///
    /// A sign, a fraction, a unit or a list make it no value.
    ///
    /// - Parameter now: Decides the century of a year of two digits, and nothing else.
    package static func parse(_ value: UnsafeRawBufferPointer, now: WallTime) -> RetryAfter? {
        let text = FieldSyntax.trimmed(value)
        guard let first = text.first else { return nil }
        // delay-seconds = 1*DIGIT, of any length.
        if first &- 0x30 < 10 {
            guard text.allSatisfy({ $0 &- 0x30 < 10 }) else { return nil }
            return .seconds(FieldSyntax.decimal(text) ?? .max)
        }
        return HTTPDate.parse(text, now: now).map { .date($0) }
    }

    /// The wait that a response asks for, or nil when it asks for none.
    ///
    /// A date is compared with the response's own `Date` where it has one, so that a server whose clock is wrong is
    /// understood all the same. Of several field lines, which is not allowed, the one that asks for most counts.
    ///
    /// - Parameters:
    ///   - now: When the response was received.
    ///   - longest: What is taken for more; a server may say a million years.
    /// - Returns: From zero, for a date that is past, to `longest`.
    package static func wait(in fields: FieldLines, now: WallTime, longest: Duration) -> Duration? {
        var found: [RetryAfter] = []
        var date: WallTime?
        fields.forEach { name, value in
            if FieldSyntax.equalIgnoringCase(name, "Retry-After") {
                if let one = parse(value, now: now) { found.append(one) }
            } else if date == nil, FieldSyntax.equalIgnoringCase(name, "Date") {
                date = HTTPDate.parse(value, now: now)
            }
        }
        return found.map { $0.wait(since: date ?? now, longest: longest) }.max()
    }

    /// The wait from a moment on, between zero and `longest`.
    package func wait(since moment: WallTime, longest: Duration) -> Duration {
        let wait: Duration =
            switch self {
            case .seconds(let count): .seconds(Int64(clamping: count))
            case .date(let date): .milliseconds(date.milliseconds(since: moment))
            }
        return min(max(.zero, wait), max(.zero, longest))
    }

    /// What has to wait when a response of this status has the field.
    ///
    /// - Source: RFC 9110 §15.6.4 (503) and RFC 6585 §4 (429) are about the client's requests as a whole, RFC 9110
    ///   §10.2.3 about redirected requests, §15.5.14 (413) about one request. Other statuses give it no meaning; should
    ///   such a request be made again, it is taken at its word.
    package static func reach(of status: UInt16) -> Reach {
        switch status {
        case 429, 503: .origin
        case 300...303, 305...399: .redirectedRequest
        default: .request
        }
    }
}
