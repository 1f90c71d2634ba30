import TrawlHTTP
import TrawlJSON
import TrawlSession

/// Cookies in JSON: one object a line, as `export --json` writes them.
enum CookieObject {
    /// Why a line is no cookie.
    enum Failure: Error {
        /// Also of a version whose members may mean something else.
        case syntax
        case refused(CookieRefusal)
    }

    /// The cookie of a line, perhaps one whose time is over; nil when that is so and the rules do not allow it.
    ///
    /// A line without a version is taken for one of this.
    static func read(
        _ line: UnsafeRawBufferPointer, at now: WallTime
    ) throws(Failure) -> CookieRecord? {
        var cookie = TrawlSession.Cookie(name: [], value: [], domain: "", creation: now)
        var isKnown = true
        do throws(JSONError) {
            var reader = try JSONReader(line)
            try reader.beginObject()
            while let key = try reader.nextMember() {
                if try reader.peek() == .null {
                    try reader.readNull()
                    continue
                }
                switch try reader.text(of: key) {
                case "v": isKnown = try reader.readNumber().double == 1
                case "domain": cookie.domain = try reader.text(of: try reader.readString())
                case "host_only": cookie.isHostOnly = try reader.readBool()
                case "path": cookie.path = try reader.text(of: try reader.readString())
                case "name": cookie.name = Array(try reader.text(of: try reader.readString()).utf8)
                case "value": cookie.value = Array(try reader.text(of: try reader.readString()).utf8)
                case "name_base64": cookie.name = try reader.base64(of: try reader.readString())
                case "value_base64": cookie.value = try reader.base64(of: try reader.readString())
                case "secure": cookie.isSecure = try reader.readBool()
                case "http_only": cookie.isHTTPOnly = try reader.readBool()
                case "same_site": cookie.sameSite = sameSite(try reader.text(of: try reader.readString()))
                case "expires": cookie.expiry = time(try reader.readNumber())
                case "created": cookie.creation = time(try reader.readNumber())
                default: _ = try reader.skipValue()
                }
            }
            try reader.finish()
        } catch {
            throw .syntax
        }
        guard isKnown else { throw .syntax }
        do throws(CookieRefusal) {
            return try cookie.record(CookiesAtHand.suffixes, at: now)
        } catch {
            throw .refused(error)
        }
    }

    private static func sameSite(_ word: String) -> SameSite {
        SameSite.allCases.first { $0.word?.lowercased() == word.lowercased() } ?? .unset
    }

    /// Seconds since 1970 as a time, kept within the range.
    private static func time(_ number: JSONNumber) -> WallTime {
        let milliseconds = (number.double * 1000).rounded()
        if abs(milliseconds) < 9e18 { return WallTime(milliseconds: Int64(milliseconds)) }
        return WallTime(milliseconds: milliseconds < 0 ? .min : .max)
    }
}
