import Foundation
import Testing
import Trawl

/// Origins with certificates of every kind, and who issued them.
final class TrustScene: Sendable {
    let directory: TemporaryDirectory
    let authority: TestAuthority
    /// The authority vouches for it.
    let between: TestAuthority
    /// Trusted by nobody unless a test says so.
    let stranger: TestAuthority
    let origin: RecordingOrigin
    /// Client certificates: one of the authority's that servers trust, and one of the stranger's.
    let member: TestAuthority.Pair
    let outsider: TestAuthority.Pair
    let selfSigned: TestAuthority.Pair
    /// A server's of the authority between, which stands behind it.
    let chained: TestAuthority.Pair

    init() throws {
        directory = try TemporaryDirectory()
        authority = try TestAuthority(in: directory)
        between = try authority.intermediate("between")
        stranger = try TestAuthority(in: directory, name: "stranger")
        let subjects = "IP:127.0.0.1,IP:127.0.0.2,DNS:one.test,DNS:*.one.test,DNS:two.test"
        let good = try authority.issue("good", subjects: subjects)
        member = try authority.issue("member", subjects: "DNS:member")
        outsider = try stranger.issue("outsider", subjects: "DNS:outsider")
        chained = try TrustScene.chain(between.issue("chained", subjects: subjects), between, in: directory)
        selfSigned = try Certificate.make(in: directory, name: "alone", subjects: subjects)
        let unknown = try stranger.issue("unknown", subjects: subjects)
        let expired = try authority.issue("expired", subjects: subjects, .past)
        let future = try authority.issue("future", subjects: subjects, .future)
        let wrong = try authority.issue("wrong", subjects: "DNS:other.test,IP:127.0.0.99")
        typealias Listener = RecordingOrigin.Listener
        origin = try RecordingOrigin(
            [
                Listener(name: "clear"), Listener(name: "otherClear", address: "127.0.0.2"),
                Listener(name: "proxy", wantsProxyCredentials: true),
                Listener(name: "good", certificate: good),
                Listener(name: "otherGood", address: "127.0.0.2", certificate: good),
                Listener(name: "expired", certificate: expired), Listener(name: "future", certificate: future),
                Listener(name: "wrong", certificate: wrong), Listener(name: "unknown", certificate: unknown),
                Listener(name: "alone", certificate: selfSigned), Listener(name: "chained", certificate: chained),
                Listener(name: "otherAlone", address: "127.0.0.2", certificate: selfSigned),
                Listener(name: "members", certificate: good, clients: authority.root, requiresClient: true),
                Listener(
                    name: "members12", certificate: good, clients: authority.root, requiresClient: true, isTLS12: true),
                Listener(name: "asking", certificate: good, clients: authority.root),
                Listener(name: "askingToo", certificate: good, clients: authority.root),
                Listener(name: "otherAsking", address: "127.0.0.2", certificate: good, clients: authority.root),
            ], in: directory)
    }

    /// A certificate with that of its issuer behind it, in one PEM file.
    static func chain(
        _ pair: TestAuthority.Pair, _ issuer: TestAuthority, in directory: TemporaryDirectory
    ) throws -> TestAuthority.Pair {
        let content = try [pair.certificate, issuer.root].map { try Data(contentsOf: URL(fileURLWithPath: $0)) }
        let file = pair.certificate + ".chain"
        try Data(content.joined()).write(to: URL(fileURLWithPath: file))
        return (file, pair.key)
    }

    /// A GET of a listener's target that trusts the authority.
    func request(
        _ listener: String, _ target: String = "/", _ adjust: (inout RequestOptions.TLS) -> Void = { _ in }
    ) -> Request {
        var request = Request(origin.url(listener, target))
        request.options.tls.caFile = authority.root
        adjust(&request.options.tls)
        return request
    }

    /// A target that redirects to a listener's.
    func redirect(to listener: String, _ target: String = "/", status: Int = 302) -> String {
        "/go?status=\(status)&to=" + origin.url(listener, target).percentEncoded
    }

    /// Who the client proved to be in each request of a listener.
    func members(_ listener: String) throws -> [String?] {
        try origin.seen().filter { $0.listener == listener && $0.bytes == nil }.map(\.member)
    }

    /// Runs `body` with a scene of its own and a coordinator without a store.
    static func with(
        adjust: (inout Configuration) -> Void = { _ in }, _ body: (TrustScene, Coordinator) async throws -> Void
    ) async throws {
        let scene = try TrustScene()
        defer { scene.origin.stop() }
        try await withTestCoordinator(adjust: adjust) { try await body(scene, $0) }
    }
}
