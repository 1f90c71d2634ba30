import Foundation
import Trawl

/// A secret that a request carries.
enum PlantedSecret: String, CaseIterable, Sendable {
    case authorization, token, cookie, manualCookie, jarCookie, proxyAuthorization, urlPassword, clientCertificate

    /// Puts it into a request. `mark` is in no other secret.
    func plant(_ mark: String, in request: inout Request, _ scene: TrustScene) {
        switch self {
        case .authorization:
            request.fields.add("Authorization", "Basic " + Data("user:\(mark)".utf8).base64EncodedString())
        case .token: request.fields.add("authorization", "Bearer \(mark)")
        case .cookie: request.fields.add("Cookie", "secret=\(mark)")
        case .manualCookie: request.options.cookies.manual = [RequestCookie("secret", mark)]
        // An earlier response has set it.
        case .jarCookie: break
        case .proxyAuthorization: request.fields.add("Proxy-Authorization", "Basic \(mark)")
        case .urlPassword: request.url = request.url.replacingOccurrences(of: "://", with: "://user:\(mark)@")
        case .clientCertificate:
            request.options.tls.identity = ClientIdentity(file: scene.member.certificate, key: scene.member.key)
        }
    }

    /// Whether a request that the origin saw carries it.
    func shows(_ mark: String, in seen: RecordingOrigin.Seen) -> Bool {
        if self == .clientCertificate { return seen.member != nil }
        let coded = Data("user:\(mark)".utf8).base64EncodedString()
        let texts = [seen.target ?? ""] + (seen.fields ?? []).flatMap { $0 }
        return texts.contains { $0.contains(mark) || $0.contains(coded) }
    }

    /// Whether it can be at home at a listener.
    func fits(_ transition: Transition) -> Bool { self != .clientCertificate || transition.from.isSecure }

    /// Whether its own origin gets it, so that the matrix knows that it would have noticed.
    var arrives: Bool { self != .urlPassword && self != .proxyAuthorization }

    /// Whether it may be in a request of a place that a redirect led to.
    func mayGo(to place: Transition.Place, _ transition: Transition) -> Bool {
        switch self {
        case .authorization, .token, .clientCertificate: transition.staysHome
        // One set by hand is for its request alone, and what is for a proxy for no origin (RFC 9110 §11.7.2).
        case .cookie, .manualCookie, .urlPassword, .proxyAuthorization: false
        // Cookies know hosts and schemes, and no ports (RFC 6265bis §8.5).
        case .jarCookie: place.host == transition.from.host && (place.isSecure || !transition.from.isSecure)
        }
    }
}

/// A way a redirect leads.
struct Transition: Sendable {
    /// A place: a listener of the scene under a host name.
    struct Place: Sendable {
        let listener: String
        let host: String
        var isSecure: Bool { listener != "clear" }
    }

    let name: String
    let from: Place
    /// Where it leads, one after the other.
    let to: [Place]
    /// Whether the end is at the beginning's origin and was nowhere else.
    var staysHome = false
    /// User information in `Location`.
    var userInformation = ""
    /// What the last place's target has besides.
    var more = ""
    /// What the redirect's target has besides.
    var redirectMore = ""
    /// Whether the secret's connections stand before it begins.
    var warmsUp = false

    private static func place(_ listener: String, _ host: String = "one.test") -> Place {
        Place(listener: listener, host: host)
    }

    static let all: [Transition] = [
        Transition(name: "same origin", from: place("asking"), to: [place("asking")], staysHome: true),
        Transition(name: "same origin in clear", from: place("clear"), to: [place("clear")], staysHome: true),
        Transition(name: "other port", from: place("asking"), to: [place("askingToo")]),
        Transition(name: "scheme up", from: place("clear"), to: [place("asking")]),
        Transition(name: "scheme down", from: place("asking"), to: [place("clear")]),
        Transition(name: "other host", from: place("asking"), to: [place("asking", "two.test")]),
        Transition(name: "other host in clear", from: place("clear"), to: [place("clear", "two.test")]),
        Transition(name: "subdomain", from: place("asking"), to: [place("asking", "a.one.test")]),
        Transition(
            name: "user information", from: place("asking"), to: [place("asking", "two.test")],
            userInformation: "user:other@"),
        Transition(name: "there and back", from: place("asking"), to: [place("askingToo"), place("asking")]),
        Transition(
            name: "there and back by another host", from: place("asking"),
            to: [place("asking", "two.test"), place("asking")]),
        Transition(
            name: "a challenge there", from: place("asking"), to: [place("askingToo")],
            more: "&challenge=Basic%20realm%3D%22x%22"),
        Transition(
            name: "stored redirect", from: place("asking"), to: [place("askingToo")],
            redirectMore: "&cache=max-age%3D600"),
        Transition(
            name: "reused connection", from: place("asking"), to: [place("asking", "two.test")], warmsUp: true),
    ]
}

/// One cell of the matrix.
struct LeakCell: Sendable {
    let secret: PlantedSecret
    let transition: Transition
    let status: Int
    let mode: RequestOptions.Redirects.Mode
    let mark: String

    static let all: [LeakCell] = PlantedSecret.allCases.flatMap { secret in
        Transition.all.filter(secret.fits).flatMap { transition in
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

    /// The request, the redirects in its target.
    func request(_ scene: TrustScene) -> Request {
        func url(_ place: Transition.Place, _ target: String, _ userInformation: String = "") -> String {
            scene.origin.url(place.listener, target, host: userInformation + place.host)
        }
        var target = ""
        for (index, place) in transition.to.enumerated().reversed() {
            let isLast = index == transition.to.count - 1
            let own =
                isLast
                ? "/\(id)?hop=\(index + 1)\(transition.more)" : "/\(id)?hop=\(index + 1)&status=\(status)&to=\(target)"
            target = url(place, own, transition.userInformation).percentEncoded
        }
        let first = "/\(id)?hop=0&status=\(status)\(transition.redirectMore)&to=\(target)"
        var request = Request(url(transition.from, first))
        if status > 302 { request.method = status == 303 ? .put : .post }
        if status > 302 { request.body = .text("body") }
        request.options.redirects.mode = mode
        request.options.redirects.allowsDowngrade = true
        request.options.authentication.whenRefused = .delivers
        request.options.tls.caFile = scene.authority.root
        request.options.transport.resolve = ["asking", "askingToo", "clear"].flatMap { listener in
            ["one.test", "two.test", "a.one.test"].map { "\($0):\(scene.origin.port(listener)):127.0.0.1" }
        }
        secret.plant(mark, in: &request, scene)
        return request
    }

    /// What comes before, so that there is something to leak; nil for nothing.
    func preparation(_ scene: TrustScene) -> Request? {
        guard secret == .jarCookie else { return nil }
        var request = request(scene)
        let cookie = "secret=\(mark); Path=/\(id)" + (transition.from.isSecure ? "; Secure" : "")
        request.url = scene.origin.url(
            transition.from.listener, "/\(id)?hop=s&cookie=\(cookie.percentEncoded)", host: transition.from.host)
        request.method = .get
        request.body = .none
        return request
    }

    /// What is wrong with the requests that an origin saw of the cell.
    func leaks(_ seen: [RecordingOrigin.Seen]) -> [String] {
        var wrong: [String] = []
        for request in seen {
            let hop = request.target.flatMap { $0.components(separatedBy: "hop=").dropFirst().first?.first } ?? "?"
            // What sets a cookie is no hop.
            if hop == "s" { continue }
            let isHome =
                Int(String(hop)).map { hop in
                    hop == 0
                        || transition.to.indices.contains(hop - 1)
                            && secret.mayGo(to: transition.to[hop - 1], transition)
                } ?? false
            if secret.shows(mark, in: request), !isHome { wrong.append("\(id): hop \(hop) at \(request.listener)") }
        }
        return wrong
    }
}
