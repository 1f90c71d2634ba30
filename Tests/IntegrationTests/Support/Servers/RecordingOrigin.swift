import Foundation
import Glibc
import TestSupport
import Testing

/// The origin of `Tests/RecordingOrigin`: several listeners in clear and with TLS, and a memory of every request.
final class RecordingOrigin: Sendable {
    static let python: String? = ["/usr/bin/python3", "/usr/local/bin/python3"].first { access($0, X_OK) == 0 }
    static let canRun = python != nil && Certificate.openssl != nil
    static let missing: Comment = "python3 and openssl are not installed"

    /// One place it listens at.
    struct Listener {
        let name: String
        var address = "127.0.0.1"
        /// A certificate and its key, in PEM files; nil is in clear.
        var certificate: (certificate: String, key: String)?
        /// The authority of client certificates that are asked for.
        var clients: String?
        /// Whether nobody is let in without one.
        var requiresClient = false
        /// Whether no newer TLS than 1.2 is spoken.
        var isTLS12 = false
        /// Whether it is a proxy that wants credentials.
        var wantsProxyCredentials = false
    }

    /// A request, or bytes that never became one.
    struct Seen: Decodable {
        let listener: String
        let connection: Int
        let method: String?
        let target: String?
        let fields: [[String]]?
        let length: Int?
        /// The common name of the client's certificate.
        let member: String?
        let bytes: Int?

        /// The values of the field lines of a name.
        func values(_ name: String) -> [String] {
            (fields ?? []).filter { $0[0].lowercased() == name.lowercased() }.map { $0[1] }
        }
    }

    private let process: ChildProcess
    private let ports: [String: Int]
    private let listeners: [String: (address: String, isSecure: Bool)]
    private let lock = Locked(())

    init(_ listeners: [Listener], in directory: TemporaryDirectory) throws {
        let script = Checkout.path("Tests/RecordingOrigin/origin.py")
        let arguments = try listeners.map { listener in
            var spec: [String: Any] = ["name": listener.name, "address": listener.address]
            if let files = listener.certificate {
                spec["certificate"] = files.certificate
                spec["key"] = files.key
            }
            if let clients = listener.clients { spec["clients"] = clients }
            if listener.requiresClient { spec["required"] = true }
            if listener.isTLS12 { spec["maximum"] = "1.2" }
            if listener.wantsProxyCredentials { spec["proxy"] = true }
            return String(decoding: try JSONSerialization.data(withJSONObject: spec), as: UTF8.self)
        }
        process = try ChildProcess(
            try #require(Self.python), [script] + arguments, errors: directory.file("origin.log"), isServer: true)
        let line = try #require(
            process.readLine(), "\(String(decoding: directory.content("origin.log") ?? [], as: UTF8.self))")
        ports = try JSONDecoder().decode([String: Int].self, from: Data(line.utf8))
        self.listeners = Dictionary(
            uniqueKeysWithValues: listeners.map { ($0.name, ($0.address, $0.certificate != nil)) })
    }

    /// The URL of a target at a listener.
    func url(_ name: String, _ target: String = "/", host: String? = nil) -> String {
        let listener = listeners[name]
        return
            "\(listener?.isSecure == true ? "https" : "http")://\(host ?? listener?.address ?? ""):\(port(name))\(target)"
    }

    func port(_ name: String) -> Int { ports[name] ?? 0 }

    /// All requests since the last reset.
    func seen() throws -> [Seen] {
        try JSONDecoder().decode([Seen].self, from: Data(try ask("log").utf8))
    }

    /// Lets the answers go that are held back.
    func release() throws { _ = try ask("release") }

    /// Forgets all requests.
    func reset() throws { _ = try ask("reset") }

    private func ask(_ question: String) throws -> String {
        try lock.withLock { _ in
            Result {
                _ = (question + "\n").withCString { write(process.input, $0, strlen($0)) }
                return try #require(process.readLine())
            }
        }.get()
    }

    /// Ends it.
    func stop() { process.end() }
}
