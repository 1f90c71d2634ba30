import TrawlHTTP
import TrawlPlatform
import TrawlSession

/// What goes on the wire for one hop: what the caller asked for, and what is known of the user there.
///
/// `EngineState.fields` is what the caller asked for, as redirects have left it. What is added to it is settled anew
/// for each hop, before the cache is asked, and nothing of it is carried over to the next: so nothing that belongs to
/// one origin comes to another. Cache and worker see what is settled here, and nothing else.
///
/// For any thread: callers' threads settle the first hop too, when it may be answered from the cache there and then.
struct EffectiveRequest {
    /// What it does with cookies; nil for nothing.
    private let cookies: CookieBinding?
    private let target: TargetURI
    /// How it gets there, as far as that is settled.
    private let way: HopWay?
    private let asked: FieldLines
    /// Whether cookies by hand go along.
    private let sendsManual: Bool
    /// What `Authorization` says, beside what is made for each lease; nil for nothing.
    private let credentials: [UInt8]?

    /// The first hop of a plan.
    init(_ plan: FetchPlan) {
        cookies = Self.cookies(plan.terms, plan.method)
        target = plan.target
        way = nil
        asked = plan.fields
        sendsManual = true
        credentials = nil
    }

    /// The next hop of a fetch.
    init(_ fetch: RunningFetch) {
        cookies = Self.cookies(fetch.plan.terms, fetch.engine.method)
        target = fetch.engine.target
        way = fetch.engine.way
        asked = fetch.engine.fields
        sendsManual = fetch.sendsManualCookies
        credentials = fetch.engine.authentication?.server?.value
    }

    /// RFC 9110 §9.3.8: who answers TRACE sends back what it gets.
    private static func cookies(_ terms: FetchTerms, _ method: TrawlHTTP.Method) -> CookieBinding? {
        method == .trace ? nil : terms.cookies
    }

    /// Whether settling does not have to wait for the disk.
    var isAtHand: Bool { cookies?.isAtHand ?? true }

    /// Whether its cookies are those of the store's own jar alone. What a server answers to them is for all who use the
    /// store, as in a browser; one that answers otherwise says so by `Vary` (RFC 9111 §4.1).
    var sharesCookies: Bool {
        guard let cookies, cookies.isShared, !(sendsManual && !cookies.manual.isEmpty) else {
            return false
        }
        return !asked.contains("Cookie")
    }

    /// What was settled of a hop, and as of when.
    struct Settled {
        /// The fields of the hop.
        var fields: FieldLines
        /// How often the jar had changed, as far as is known.
        var changes: UInt64?
        /// Until when they are right by the times of the cookies in them.
        var until = Settled.unlimited

        /// No time of a cookie matters.
        static let unlimited = WallTime(milliseconds: .max)
    }

    /// The fields of the hop as they are now.
    func settled() -> Settled {
        var settled = cookies.map { withCookies(of: $0) } ?? Settled(fields: asked)
        if let credentials { settled.fields.setCredentials(credentials) }
        return settled
    }

    /// Cookies by hand come first, those of a field line before those of the options; then the jar's (ASI-COOK-02).
    /// There is one field line (RFC 6265bis §5.8.1).
    private func withCookies(of cookies: CookieBinding) -> Settled {
        var manual = sendsManual ? cookies.manual : []
        let hasLines = asked.contains("Cookie")
        if hasLines {
            // What no cookie may hold is the caller's business, and stays alone.
            guard let lines = cookieLines else { return Settled(fields: asked, changes: cookies.changes) }
            manual = lines + manual
        }
        let selection = cookies.selection(for: target, by: way, manual: manual)
        var settled = Settled(
            fields: asked, changes: selection.changes, until: selection.until ?? Settled.unlimited)
        guard let field = selection.field else { return settled }
        if hasLines { settled.fields.removeAll("Cookie") }
        field.withUnsafeBytes { field in
            let name: StaticString = "Cookie"
            let nameBytes = UnsafeRawBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount)
            // Neither name nor any part of a cookie can be refused.
            try? settled.fields.append(name: nameBytes, value: field)
        }
        return settled
    }

    /// The `Cookie` field lines of the request's own, those without a value left out; nil when one of them holds what
    /// no cookie may.
    private var cookieLines: [ManualCookie]? {
        var lines: [ManualCookie]? = []
        asked.forEach { name, value in
            guard FieldSyntax.equalIgnoringCase(name, "Cookie"), !value.isEmpty else { return }
            if let line = try? ManualCookie(name: [], value: Array(value)) {
                lines?.append(line)
            } else {
                lines = nil
            }
        }
        return lines
    }
}

extension Supervisor {
    /// Settles what goes on the wire for the next hop of a fetch.
    func settleRequest(of fetch: RunningFetch) {
        fetch.engine.settledTrust = trustsLoopback(fetch)
        if goesOutAsAsked(fetch) {
            fetch.engine.sent = fetch.engine.fields
            fetch.engine.settledChanges = 0
            fetch.engine.settledUntil = EffectiveRequest.Settled.unlimited
            fetch.engine.isSettled = true
            return
        }
        let effective = EffectiveRequest(fetch)
        let settled = effective.settled()
        fetch.engine.sent = settled.fields
        (fetch.engine.settledChanges, fetch.engine.settledUntil) = (settled.changes, settled.until)
        fetch.engine.isSettled = true
        // Nobody else asks for it.
        if fetch.engine.terms.cache != nil { fetch.engine.sharesCookies = effective.sharesCookies }
    }

    /// Whether nothing is to be settled, as mostly where no cache is used: nobody is known to its server, and there are
    /// no cookies, nor ever were.
    private func goesOutAsAsked(_ fetch: RunningFetch) -> Bool {
        guard fetch.engine.terms.cache == nil, fetch.engine.authentication == nil else { return false }
        guard let cookies = fetch.plan.terms.cookies else { return true }
        // Cookies of the caller's are brought into one line also where there are no others.
        return cookies.manual.isEmpty && cookies.changes == 0 && !fetch.engine.fields.contains("Cookie")
    }

    /// Whether a hop to this machine itself counts as secure by what is known of its way.
    private func trustsLoopback(_ fetch: RunningFetch) -> Bool {
        fetch.plan.terms.cookies?.trustsLoopback(fetch.engine.target, by: fetch.engine.way) ?? true
    }

    /// Settles it before a hop is leased unless that is done; and once more when cookies changed or ended while the hop
    /// waited for its turn, so that it sees those of fetches that ended in that time, and none that is over; or when the
    /// way it goes has turned out to be secure, or not to be.
    func settleRequestAgain(of fetch: RunningFetch) {
        if fetch.engine.isSettled {
            guard let cookies = fetch.plan.terms.cookies else { return }
            if let changes = cookies.changes, changes == fetch.engine.settledChanges,
                WallClock.time() < fetch.engine.settledUntil, fetch.engine.settledTrust == trustsLoopback(fetch)
            {
                return
            }
        }
        settleRequest(of: fetch)
    }
}

extension RunningFetch {
    /// Whether the next hop has the cookies that its request was given by hand (ASI-RED-07).
    var sendsManualCookies: Bool {
        guard !engine.redirects.isEmpty, let cookies = plan.terms.cookies else { return true }
        return cookies.repeatsManual && !engine.hasLeftOrigin
    }
}
