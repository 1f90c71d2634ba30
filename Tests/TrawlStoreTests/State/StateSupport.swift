import Glibc
import Testing
import TrawlHTTP
import TrawlPlatform
import TrawlSession

@testable import TrawlStore

let noon = WallTime(seconds: 1_795_262_400)

extension WallTime {
    func plus(seconds: Int64) -> WallTime { advanced(byMilliseconds: 1000 * seconds) }
}

/// Lends the target of a simple URL.
private func withTarget<Result>(_ url: String, _ body: (CookieTarget) -> Result) -> Result {
    let isSecure = url.hasPrefix("https://")
    let rest = url.drop { $0 != "/" }.dropFirst(2)
    let host = Array(rest.prefix { $0 != "/" }.utf8)
    let path = Array(rest.drop { $0 != "/" }.utf8)
    return host.withUnsafeBytes { host in
        path.withUnsafeBytes { body(CookieTarget(host: host, path: $0, isSecure: isSecure)) }
    }
}

/// What a line from a URL makes; nil when it is refused.
func receive(
    _ line: String, from url: String, under conditions: CookieConditions = .init(), at now: WallTime = noon
) -> ReceivedCookie? {
    withTarget(url) { target in
        Array(line.utf8).withUnsafeBytes { try? CookieRules.receive($0, from: target, under: conditions, at: now) }
    }
}

extension StateStore {
    /// Stores a line; nil when it is refused.
    @discardableResult
    func set(
        _ line: String, from url: String, jar: String = "", under conditions: CookieConditions = .init(),
        at now: WallTime = noon, limits: CookieLimits = CookieTable.limits
    ) throws -> CookieChange? {
        let received = try #require(receive(line, from: url, under: conditions, at: now))
        return try perform(.cookies) { (transaction) throws(StoreError) in
            try CookieTable.store([received], jar: jar, at: now, in: transaction, limits: limits, state: self)[0]
        }
    }

    /// The field of a request.
    func field(for url: String, jar: String = "", at now: WallTime = noon) -> String? {
        let found = withTarget(url) { target in
            try? read(.cookies) { (snapshot) throws(StoreError) -> [UInt8]? in
                var selection = CookieSelection(for: target, at: now)
                try CookieTable.offer(to: &selection, for: target, jar: jar, snapshot)
                return selection.field()
            }
        }
        return (found ?? nil).flatMap { $0 }.map { String(decoding: $0, as: UTF8.self) }
    }

    /// The names of all cookies of the shared jar, in order.
    var names: [String] {
        var names: [String] = []
        _ = try? read(.cookies) { (snapshot) throws(StoreError) in
            try CookieTable.forEach(in: "", snapshot) { names.append(FieldLines.text($0.name)) }
        }
        return names.sorted()
    }
}

/// Opens once as many have arrived as are expected.
final class Latch: Sendable {
    private let left: SignalledValue<Int>

    init(_ count: Int) { left = SignalledValue(count) }

    func arrive() {
        left.update { left, signal in
            left -= 1
            signal()
        }
    }

    func wait() { left.wait { $0 <= 0 } }
}
