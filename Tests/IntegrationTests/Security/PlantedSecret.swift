import Foundation
import Trawl

/// A secret that a request carries.
enum PlantedSecret: String, CaseIterable, Sendable {
    /// Written by hand.
    case authorization, token, cookie, manualCookie, proxyAuthorization
    /// Set by an earlier response, or what an earlier fetch was accepted with.
    case jarCookie, sessionCredential
    /// Given for who asks.
    case credential, bearer, urlPassword, netrc, proxyCredential
    case clientCertificate

    /// Puts it into a request. `mark` is in no other secret.
    func plant(_ mark: String, in request: inout Request, _ scene: TrustScene) throws {
        switch self {
        case .authorization:
            request.fields.add("Authorization", "Basic " + Data("user:\(mark)".utf8).base64EncodedString())
        case .token: request.fields.add("authorization", "Bearer \(mark)")
        case .cookie: request.fields.add("Cookie", "secret=\(mark)")
        case .manualCookie: request.options.cookies.manual = [RequestCookie("secret", mark)]
        case .proxyAuthorization: request.fields.add("Proxy-Authorization", "Basic \(mark)")
        case .jarCookie: break
        case .sessionCredential: request.options.authentication.usesSession = true
        case .credential:
            request.options.authentication.credential = Credential(user: "user", password: mark)
            request.options.authentication.schemes = .basic
        case .bearer: request.options.authentication.credential = Credential(bearer: mark)
        case .urlPassword: request.url = request.url.replacingOccurrences(of: "://", with: "://user:\(mark)@")
        case .netrc:
            let file = "netrc.\(mark)"
            try scene.directory.put(file, Array("machine one.test login user password \(mark)\n".utf8))
            request.options.authentication.netrc = .file(scene.directory.file(file))
        case .proxyCredential:
            var policy = try ProxyPolicy(Proxy("127.0.0.1:\(scene.origin.port("proxy"))"))
            policy.setUser("user", password: mark)
            policy.sendsAhead = !Self.isProxyAskedFirst(mark)
            request.options.proxy = policy
        case .clientCertificate:
            request.options.tls.identity = ClientIdentity(file: scene.member.certificate, key: scene.member.key)
        }
    }

    /// Whether a proxy hears who it is only when it asks; a tunnel that it then opens is for nobody who does not say so.
    static func isProxyAskedFirst(_ mark: String) -> Bool { mark.contains("303") || mark.contains("307") }

    /// Whether a request that somebody saw carries it.
    func shows(_ mark: String, in seen: RecordingOrigin.Seen) -> Bool {
        if self == .clientCertificate { return seen.member != nil }
        let coded = Data("user:\(mark)".utf8).base64EncodedString()
        let texts = [seen.target ?? ""] + (seen.fields ?? []).flatMap { $0 }
        return texts.contains { $0.contains(mark) || $0.contains(coded) }
    }

    /// Whether it can be at home at a listener.
    func fits(_ transition: LeakTransition) -> Bool { self != .clientCertificate || transition.from.isSecure }

    /// Whether it is told nobody who does not ask.
    var waitsForChallenge: Bool { self == .urlPassword || self == .netrc }

    /// Whether it says who asks a server, so that nothing else can.
    var isForServers: Bool {
        switch self {
        case .authorization, .token, .credential, .bearer, .urlPassword, .netrc, .sessionCredential: true
        case .cookie, .manualCookie, .jarCookie, .proxyAuthorization, .proxyCredential, .clientCertificate: false
        }
    }

    /// Whether its own origin gets it, so that the matrix knows that it would have noticed. What is for proxies gets
    /// there.
    func arrives(_ transition: LeakTransition) -> Bool {
        switch self {
        case .proxyAuthorization, .proxyCredential: false
        default: true
        }
    }

    /// Whether it may be in a request of a place that a redirect led to.
    func mayGo(to place: LeakTransition.Place, _ transition: LeakTransition) -> Bool {
        switch self {
        case .authorization, .token, .credential, .bearer, .urlPassword, .clientCertificate: transition.staysHome
        // One set by hand is for its request alone, and what is for proxies is for no origin.
        case .cookie, .manualCookie, .proxyCredential: false
        // In a request that is no tunnel's it goes to the proxy, and is dropped with the origin.
        case .proxyAuthorization: transition.staysHome
        // Cookies know hosts and schemes, and no ports (RFC 6265bis §8.5).
        case .jarCookie: place.host == transition.from.host && (place.isSecure || !transition.from.isSecure)
        // What the session knows of an origin is said to it again.
        case .sessionCredential: place == transition.from
        // A netrc file knows hosts alone.
        case .netrc: place.host == transition.from.host
        }
    }
}
