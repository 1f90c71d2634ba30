import TrawlHTTP
import TrawlPlatform
import TrawlURL

/// Redirects: each makes a new hop.
extension Supervisor {
    enum RedirectStep {
        case follow(Redirect, TargetURI)
        case refuse(FetchError)
    }

    /// What to do with a redirect, or nil when the response is the answer.
    mutating func redirect(of head: TrawlHTTP.ResponseHead, _ fetch: RunningFetch) -> RedirectStep? {
        guard head.status >= 300 && head.status < 400 else { return nil }
        let decided = fetch.engine.decided.flatMap { $0.isAbout(head) ? $0 : nil }
        if case .stop = decided?.answer { return nil }
        let options = fetch.plan.options.redirects
        guard let redirect = Redirect(head: head, method: fetch.engine.method, mode: options.mode.packageMode) else {
            return nil
        }
        let here = fetch.engine.target
        if fetch.engine.redirects.count >= options.limit {
            return .refuse(FetchError(.tooManyRedirects, "more than \(options.limit) redirects", url: here.text))
        }
        if case .replace(let other) = decided?.answer { return .follow(other.redirect(redirect), other.target) }
        do throws(FetchError) {
            return .follow(redirect, try planner.redirectTarget(redirect, from: here, fetch.plan.terms, urls))
        } catch {
            return .refuse(error)
        }
    }

    mutating func follow(
        _ redirect: Redirect, to target: TargetURI, _ head: TrawlHTTP.ResponseHead, _ fetch: RunningFetch
    ) {
        turn(fetch, to: target, by: redirect, head)
        guard let wait = configuration.politeness.wait(after: head) else { return begin(fetch, front: true) }
        park(fetch, until: now.advanced(by: wait))
    }

    /// Makes the next hop of a fetch the one that a redirect asks for; it is still to begin.
    func turn(
        _ fetch: RunningFetch, to target: TargetURI, by redirect: Redirect, _ head: TrawlHTTP.ResponseHead
    ) {
        let hop = Response.RedirectHop(
            url: fetch.engine.target.text, status: Int(head.status), location: target.textWithFragment,
            head: Response.ResponseHead(head))
        fetch.engine.redirects.append(hop, keepsFields: fetch.reply.showsRedirectFields)
        tellRedirect(fetch, head.status, target)
        fetch.channel?.post(.redirected(hop))
        if let decided = fetch.engine.decided, decided.isAbout(head), case .replace(let other) = decided.answer {
            fetch.engine.fields = other.fields
            if !redirect.keepsBody { fetch.engine.otherBody = other.body }
            fetch.engine.sendsBody = redirect.keepsBody ? fetch.engine.sendsBody : other.body != .none
        } else {
            fetch.engine.fields = redirect.fields(
                from: fetch.engine.fields, at: fetch.engine.target.origin, to: target.origin,
                repeatsCookies: fetch.plan.terms.options.cookies.repeatsManual)
            fetch.engine.sendsBody = fetch.engine.sendsBody && redirect.keepsBody
        }
        fetch.engine.noteWhetherByHand()
        fetch.engine.decided = nil
        if target.origin != fetch.engine.target.origin { fetch.engine.hasLeftOrigin = true }
        turnCredentials(fetch)
        fetch.engine.method = redirect.method
        fetch.engine.terms = planner.following(fetch.engine.terms, to: target, from: fetch.engine.target)
        fetch.engine.target = target
        fetch.engine.way = nil
        fetch.engine.isSuspect = false
        fetch.engine.passesStoreOver = false
        fetch.engine.mayJoin = true
        fetch.engine.joinsSame = false
        fetch.engine.access = .nothing
    }
}

extension HostPoliteness {
    /// How long after a redirect that has just come the request that it leads to begins; nil is at once.
    ///
    /// - Source: RFC 9110 §10.2.3: with a redirect `Retry-After` is the least time before the redirected request.
    func wait(after redirect: TrawlHTTP.ResponseHead) -> Duration? {
        guard respectsRetryAfter, redirect.fields.contains("Retry-After"),
            let wait = RetryAfter.wait(in: redirect.fields, now: WallClock.time(), longest: longestRetryAfter),
            wait > .zero
        else { return nil }
        return wait
    }
}
