import Foundation
import Trawl

/// One cell of the matrix of secrets, ways and statuses.
struct LeakCell: Sendable {
    let secret: PlantedSecret
    let transition: LeakTransition
    let status: Int
    let mode: RequestOptions.Redirects.Mode
    let mark: String

    static let all: [LeakCell] = PlantedSecret.allCases.flatMap { secret in
        LeakTransition.all.filter(secret.fits).flatMap { transition in
            [301, 302, 303, 307, 308].map { status in
                // Each with its own shape: the mode and the method change with the place in the matrix.
                let mode: RequestOptions.Redirects.Mode = status % 2 == 0 ? .standard : .preserve
                return LeakCell(
                    secret: secret, transition: transition, status: status, mode: mode,
                    mark: "mark-\(secret.rawValue)-\(transition.name.filter(\.isLetter))-\(status)-end")
            }
        }
    }

    /// What a request of the cell is known by, without the secret.
    var id: String { "cell-" + mark.dropFirst(5) }

    /// The cell of a request; what is no cell's, as CONNECT, has an empty one.
    static func id(of seen: RecordingOrigin.Seen) -> String {
        guard let target = seen.target, let start = target.range(of: "/cell-") else { return "" }
        return String(target[target.index(after: start.lowerBound)...].prefix { $0 != "/" && $0 != "?" })
    }

    /// Which place of the way a request was for: `s` for what comes before.
    static func hop(of seen: RecordingOrigin.Seen) -> Character {
        seen.target?.components(separatedBy: "hop=").dropFirst().first?.first ?? "?"
    }

    /// The request, the redirects in its target.
    func request(_ scene: TrustScene) throws -> Request {
        func url(_ place: LeakTransition.Place, _ target: String, _ userInformation: String = "") -> String {
            scene.origin.url(place.listener, target, host: userInformation + place.host)
        }
        var target = ""
        for (index, place) in transition.to.enumerated().reversed() {
            let isLast = index == transition.to.count - 1
            let own =
                isLast
                ? "/\(id)/?hop=\(index + 1)\(transition.more)"
                : "/\(id)/?hop=\(index + 1)&status=\(status)&to=\(target)"
            target = url(place, own, transition.userInformation).percentEncoded
        }
        let challenge = transition.asksFirst || secret.waitsForChallenge ? "&challenge=Basic%20realm%3D%22home%22" : ""
        let freshness = transition.storesRedirect ? "&cache=max-age%3D600" : ""
        let first = "/\(id)/?hop=0&status=\(status)\(freshness)\(challenge)&to=\(target)"
        var request = Request(url(transition.from, first))
        // What is stored answers a GET alone.
        if status > 302, !transition.storesRedirect {
            // A POST must not be repeated when its worker dies.
            request.method = status == 303 || transition.losesWorker ? .put : .post
            request.body = .text("body")
        }
        request.options.redirects.mode = mode
        request.options.redirects.allowsDowngrade = true
        request.options.tls.caFile = scene.authority.root
        request.options.authentication.allowsClearText = true
        request.options.authentication.usesSession = false
        request.options.authentication.whenRefused = .delivers
        if transition.asksFirst, !secret.isForServers {
            request.options.authentication.credential = Credential(user: "somebody", password: "else")
        }
        if transition.byProxy {
            var policy = try ProxyPolicy(Proxy("127.0.0.1:\(scene.origin.port("proxy"))"))
            policy.setUser("user", password: "of the proxy")
            request.options.proxy = policy
        }
        try secret.plant(mark, in: &request, scene)
        // A proxy is told names.
        if request.options.proxy == nil {
            request.options.transport.resolve = ["asking", "askingToo", "clear"].flatMap { listener in
                ["one.test", "two.test", "a.one.test"].map { "\($0):\(scene.origin.port(listener)):127.0.0.1" }
            }
        }
        return request
    }

    /// What comes before, so that there is something to leak; nil for nothing.
    func preparation(_ scene: TrustScene) throws -> Request? {
        let target: String
        var request = try request(scene)
        switch secret {
        case .jarCookie:
            let cookie = "secret=\(mark); Path=/\(id)" + (transition.from.isSecure ? "; Secure" : "")
            target = "cookie=\(cookie.percentEncoded)"
        case .sessionCredential:
            target = "challenge=Basic%20realm%3D%22\(id)%22"
            request.options.authentication.credential = Credential(user: "user", password: mark)
        default: return nil
        }
        request.url = scene.origin.url(
            transition.from.listener, "/\(id)/?hop=s&\(target)", host: transition.from.host)
        request.method = .get
        request.body = .none
        return request
    }

    /// What is wrong with the requests of the cell that were seen.
    func leaks(_ seen: [RecordingOrigin.Seen]) -> [String] {
        var wrong: [String] = []
        for request in seen where secret.shows(mark, in: request) {
            let hop = Self.hop(of: request)
            // What sets a cookie, or proves a credential, is no hop.
            if hop == "s" { continue }
            let isHome: Bool
            if secret == .proxyCredential {
                isHome = request.listener == "proxy"
            } else if let number = Int(String(hop)), number == 0 || transition.to.indices.contains(number - 1) {
                isHome = number == 0 || secret.mayGo(to: transition.to[number - 1], transition)
            } else {
                isHome = false
            }
            if !isHome { wrong.append("\(id): hop \(hop) at \(request.listener)") }
        }
        return wrong
    }

    /// Whether the second of two requests learns from the store where it leads. What is asked first who it is has said
    /// nothing yet, and what has a client certificate uses no cache.
    private var isAnsweredByStore: Bool {
        transition.storesRedirect && !secret.waitsForChallenge && secret != .clientCertificate
    }

    /// Whether the second of two requests goes over the connection of the first.
    private var usesConnectionAgain: Bool {
        transition.warmsUp && !(secret == .proxyCredential && PlantedSecret.isProxyAskedFirst(mark))
    }

    /// What is missing from the requests of the cell that were seen.
    func gaps(_ seen: [RecordingOrigin.Seen]) -> [String] {
        var wrong: [String] = []
        let hops = Set(seen.map(Self.hop)).subtracting(["s"])
        if hops.count != transition.to.count + 1 { wrong.append("\(id): hops \(hops) alone") }
        // It was there to be leaked.
        let home = seen.filter { Self.hop(of: $0) == "0" }
        if secret.arrives(transition), !home.contains(where: { secret.shows(mark, in: $0) }) {
            wrong.append("\(id): its own origin did not get it")
        }
        if isAnsweredByStore, home.count != 1 { wrong.append("\(id): \(home.count) times at the first place") }
        if usesConnectionAgain, home.count < 2 || home.first?.connection != home.last?.connection {
            wrong.append("\(id): on connections \(home.map(\.connection))")
        }
        return wrong
    }
}
