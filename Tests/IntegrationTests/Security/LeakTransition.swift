/// A way a redirect leads.
struct LeakTransition: Sendable {
    /// A place: a listener of the scene under a host name.
    struct Place: Sendable, Equatable {
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
    /// Whether the redirect is stored, and answers the second time.
    var storesRedirect = false
    /// Whether its connection stands before it begins.
    var warmsUp = false
    /// Whether the first place asks who it is before it redirects.
    var asksFirst = false
    /// Whether all of it goes through a proxy.
    var byProxy = false
    /// Whether the workers are killed while the last place has not answered yet.
    var losesWorker = false

    private static func place(_ listener: String, _ host: String = "one.test") -> Place {
        Place(listener: listener, host: host)
    }

    private static let challenge = "&challenge=Basic%20realm%3D%22x%22"

    static let all: [LeakTransition] = [
        LeakTransition(name: "same origin", from: place("asking"), to: [place("asking")], staysHome: true),
        LeakTransition(name: "same origin in clear", from: place("clear"), to: [place("clear")], staysHome: true),
        LeakTransition(name: "other port", from: place("asking"), to: [place("askingToo")]),
        LeakTransition(name: "scheme up", from: place("clear"), to: [place("asking")]),
        LeakTransition(name: "scheme down", from: place("asking"), to: [place("clear")]),
        LeakTransition(name: "other host", from: place("asking"), to: [place("asking", "two.test")]),
        LeakTransition(name: "other host in clear", from: place("clear"), to: [place("clear", "two.test")]),
        LeakTransition(name: "subdomain", from: place("asking"), to: [place("asking", "a.one.test")]),
        LeakTransition(
            name: "user information", from: place("asking"), to: [place("asking", "two.test")],
            userInformation: "user:other@"),
        LeakTransition(name: "there and back", from: place("asking"), to: [place("askingToo"), place("asking")]),
        LeakTransition(
            name: "there and back by another host", from: place("asking"),
            to: [place("asking", "two.test"), place("asking")]),
        LeakTransition(
            name: "a challenge there", from: place("asking"), to: [place("askingToo")], more: challenge),
        LeakTransition(
            name: "a challenge at another host", from: place("asking"), to: [place("asking", "two.test")],
            more: challenge),
        LeakTransition(
            name: "a challenge in between", from: place("asking"), to: [place("askingToo")], asksFirst: true),
        LeakTransition(
            name: "stored redirect", from: place("asking"), to: [place("askingToo")],
            storesRedirect: true),
        LeakTransition(
            name: "reused connection", from: place("asking"), to: [place("asking", "two.test")], warmsUp: true),
        LeakTransition(
            name: "by proxy", from: place("asking"), to: [place("asking", "two.test")], byProxy: true),
        LeakTransition(
            name: "by proxy in clear", from: place("clear"), to: [place("clear", "two.test")], byProxy: true),
        LeakTransition(
            name: "worker death", from: place("asking"), to: [place("askingToo")], more: "&hold=1", losesWorker: true),
    ]
}
