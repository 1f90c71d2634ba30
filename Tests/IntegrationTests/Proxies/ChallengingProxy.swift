import Foundation
import TrawlPlatform

/// A proxy that wants to know who asks, and plays all origins behind it too: whatever it lets through it answers
/// itself.
final class ChallengingProxy: Sendable {
    /// A request as it came.
    struct Seen: Sendable {
        /// The number of its connection, counted from 1.
        let connection: Int
        let method: String
        let target: String
        /// Names in lower case.
        let fields: [String: String]
        let body: String
        /// Whether it came through a tunnel, and is the origin's.
        let isInTunnel: Bool

        /// What it says of who asks.
        var credentials: String? { fields["proxy-authorization"] }
    }

    /// What came, shared with the threads that serve.
    private final class Log: Sendable {
        let all = Guarded<[Seen]>([])
    }

    private let peer: ScriptedPeer
    private let log: Log

    /// - Parameter answer: The whole answer to a request; a tunnel is made by one of status 200 to CONNECT.
    init(_ answer: @escaping @Sendable (Seen) -> String) throws {
        let log = Log()
        self.log = log
        peer = try ScriptedPeer { connection, number in
            var isInTunnel = false
            while let head = connection.readHead() {
                let lines = head.components(separatedBy: "\r\n").filter { !$0.isEmpty }
                let words = lines[0].components(separatedBy: " ")
                guard words.count == 3 else { return }
                var fields: [String: String] = [:]
                for line in lines.dropFirst() {
                    guard let colon = line.firstIndex(of: ":") else { continue }
                    fields[line[..<colon].lowercased()] = line[line.index(after: colon)...]
                        .trimmingCharacters(in: .whitespaces)
                }
                let body = connection.read(fields["content-length"].flatMap(Int.init) ?? 0) ?? []
                let seen = Seen(
                    connection: number, method: words[0], target: words[1], fields: fields,
                    body: String(decoding: body, as: UTF8.self), isInTunnel: isInTunnel)
                log.all.withLock { $0.append(seen) }
                let text = answer(seen)
                connection.send(text)
                if seen.method == "CONNECT", text.hasPrefix("HTTP/1.1 200") { isInTunnel = true }
            }
        }
    }

    /// Its place, for `-x`.
    var place: String { peer.place }

    /// What it was asked so far, in order.
    func seen() -> [Seen] { log.all.withLock { $0 } }

    func stop() { peer.stop() }

    /// An answer with a body.
    static func answer(_ status: Int, _ body: String = "", _ lines: [String] = []) -> String {
        (["HTTP/1.1 \(status) X"] + lines + ["Content-Length: \(body.utf8.count)", "", body]).joined(separator: "\r\n")
    }

    /// A challenge.
    static func wants(_ challenge: String, _ lines: [String] = []) -> String {
        answer(407, "who?", ["Proxy-Authenticate: \(challenge)"] + lines)
    }

    /// What is let through: a tunnel, or the answer of an origin.
    static func lets(_ seen: Seen, _ body: String = "there") -> String {
        seen.method == "CONNECT" ? "HTTP/1.1 200 Tunnel\r\n\r\n" : answer(200, body)
    }

    /// A proxy that lets through who says this, and challenges all others; in a tunnel nobody is asked.
    static func taking(_ field: String, _ challenge: String = #"Basic realm="den""#) -> @Sendable (Seen) -> String {
        { seen in seen.isInTunnel || seen.credentials == field ? lets(seen) : wants(challenge) }
    }

    /// A proxy that takes any proof of Digest with its nonce; its worth is for real proxies to say.
    static let digest: @Sendable (Seen) -> String = { seen in
        let isProved = seen.credentials.map { ChallengingOrigin.parameter("nonce", of: $0) == "n1" } ?? false
        return seen.isInTunnel || isProved
            ? lets(seen) : wants(#"Digest realm="den", nonce="n1", qop="auth", algorithm=MD5"#)
    }
}
