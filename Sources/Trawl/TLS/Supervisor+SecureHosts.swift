import TrawlFrontier
import TrawlHTTP
import TrawlSession
import TrawlURL

/// Hops whose host is known only by now to take secure transport alone: between the plan of a request and its hops
/// others may have met the host, and the attempt before this one too (RFC 6797 §8.3, §8.4).
extension Supervisor {
    /// Has a hop that begins go by `https` where its host takes nothing else, and the host's certificate be right. That
    /// is no redirect of its own: what is bound to where the fetch began goes along.
    ///
    /// - Returns: False when the fetch may not go there, and has failed.
    mutating func secure(_ fetch: RunningFetch) -> Bool {
        guard planner.secures(fetch.engine.target) else {
            harden(fetch)
            return true
        }
        let here = fetch.engine.target
        let target: TargetURI
        do throws(FetchError) {
            guard let secured = try planner.secured(here, fetch.plan.terms, urls) else { return true }
            target = secured
        } catch {
            answer(fetch, with: .failure(error))
            return false
        }
        tell(.status, fetch, "its host takes secure transport only: it goes by https")
        release(fetch, .promote)
        fetch.engine.target = target
        if fetch.engine.hasLeftOrigin {
            fetch.engine.terms = planner.following(fetch.engine.terms, to: target, from: here)
        } else {
            fetch.engine.terms = planner.beginning(fetch.engine.terms, at: target)
            fetch.engine.isHomeSecured = true
        }
        fetch.engine.decided = nil
        fetch.engine.way = nil
        fetch.engine.access = .nothing
        restartCredentials(of: fetch)
        return true
    }

    /// Has the certificate of a host be right that was to be reached by `https` anyway.
    private func harden(_ fetch: RunningFetch) {
        let terms = planner.hardened(fetch.engine.terms, at: fetch.engine.target)
        if terms === fetch.engine.terms { return }
        tell(.status, fetch, "its host takes secure transport only: its certificate has to be right")
        fetch.engine.terms = terms
        fetch.engine.access = .nothing
    }

    /// Lets a hop whose turn has come begin anew where it is to go by `https` by now, or its host to be verified.
    ///
    /// - Returns: Whether it does; the hop is not in process then.
    mutating func becomesSecure(_ hop: ReadyHop, _ fetch: RunningFetch) -> Bool {
        let goesByHTTPS = planner.secures(fetch.engine.target)
        guard goesByHTTPS || planner.hardens(fetch.engine.terms, at: fetch.engine.target) else { return false }
        // It has not started, as far as its host is concerned: the next one waits for nothing.
        fetch.engine.isInHostProcess = false
        hosts.queues.remove(hop.hop, at: hosts.queues.putBack(hop))
        hosts.release(fetch.engine.origin)
        if fetch.engine.isSuspect, !goesByHTTPS {
            // The same request still has to run alone, which the cache has no part in.
            let access = fetch.engine.access
            harden(fetch)
            fetch.engine.access = access
            enqueue(fetch, front: true)
            return true
        }
        // As after a redirect: it is another request.
        fetch.engine.isSuspect = false
        begin(fetch, front: true)
        return true
    }
}

extension RunningFetch {
    /// Where the fetch began: to that the credentials of its request belong.
    var home: Origin {
        let origin = firstTarget.origin
        return engine.isHomeSecured ? TransportSecurity.upgrade(origin) : origin
    }
}
