/// How long the text of a script is waited for: no longer than the response it is needed for (ASI-PRX-05), and no
/// longer than all can be held up.
struct ScriptPatience: Sendable, Hashable {
    /// In all.
    let whole: Duration
    /// For a connection.
    let connect: Duration
    /// Without a byte.
    let inactivity: Duration

    /// Where no request wants less.
    static let longest = ScriptPatience(whole: .seconds(20), connect: .seconds(10), inactivity: .seconds(20))

    private init(whole: Duration, connect: Duration, inactivity: Duration) {
        self.whole = whole
        self.connect = connect
        self.inactivity = inactivity
    }

    /// That of a request with these limits.
    init(_ limits: RequestOptions.TimeLimits) {
        let least = { (limits: Duration...) in limits.filter { $0 > .zero }.min() ?? .zero }
        self.init(
            whole: least(limits.exchange, limits.resource, Self.longest.whole),
            connect: least(limits.connect, Self.longest.connect),
            inactivity: least(limits.inactivity, Self.longest.inactivity))
    }

    /// Whether what came in vain of this one need not be tried again with the other.
    ///
    /// By the sum, which is more wherever one limit is and none is less: of two that differ both ways one has to count
    /// for more, or they would have the script asked for in turns.
    func covers(_ other: ScriptPatience) -> Bool { total >= other.total }

    private var total: Duration { whole + connect + inactivity }
}
