import TrawlHTTP

@testable import TrawlSession

/// Saturday, 21 November 2026, noon.
let noon = WallTime(seconds: 1_795_262_400)

extension WallTime {
    func plus(seconds: Int64) -> WallTime { advanced(byMilliseconds: seconds * 1000) }
}

/// A URI of a plain text: scheme, host, path and query, no port.
func uri(_ text: String) -> TargetURI {
    let scheme = text.hasPrefix("https:") ? "https" : "http"
    let rest = text.dropFirst(scheme.count + 3)
    let host = rest.prefix { $0 != "/" }.lowercased()
    var path = rest.dropFirst(host.count)
    if path.isEmpty { path = "/" }
    let start = scheme.utf8.count + 3 + host.utf8.count
    let whole = "\(scheme)://\(host)\(path)"
    let query = Array(whole.utf8).firstIndex(of: UInt8(ascii: "?"))
    return TargetURI(
        origin: Origin(scheme: scheme, host: host, port: scheme == "https" ? 443 : 80), text: whole, pathStart: start,
        queryStart: query)
}

extension CookieTarget {
    static func with<Result>(_ text: String, _ body: (CookieTarget) throws -> Result) rethrows -> Result {
        try with(uri(text), body)
    }
}

extension String {
    /// One byte for each character.
    var latin1: [UInt8] { unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) } }
}

extension CookieJar {
    /// Stores a line; the refusal when there is one.
    @discardableResult
    mutating func receive(
        _ line: String, from url: String, under conditions: CookieConditions = .init(), at now: WallTime = noon
    ) -> Result<CookieChange, CookieRefusal> {
        CookieTarget.with(url) { target in
            line.latin1.withUnsafeBytes { line in
                do throws(CookieRefusal) {
                    return .success(try receive(line, from: target, under: conditions, at: now))
                } catch {
                    return .failure(error)
                }
            }
        }
    }

    /// The field of a request as one character for each byte.
    mutating func field(for url: String, manual: [ManualCookie] = [], at now: WallTime = noon) -> String? {
        CookieTarget.with(url) { target in
            field(for: target, manual: manual, at: now).map { $0.withUnsafeBytes(FieldLines.latin1) }
        }
    }

    /// Names and values of all that are there, oldest first.
    func pairs(at now: WallTime = noon) -> [String] {
        cookies(at: now).map { "\($0.nameText)=\($0.valueText)" }
    }
}

/// A public-suffix list of a few names.
let suffixes = PublicSuffixTest { domain in
    let name = String(decoding: domain, as: UTF8.self)
    return !name.contains(".") || ["co.uk", "github.io"].contains(name)
}
