import TrawlFrontier
import TrawlHTTP
import TrawlSession
import TrawlURL

/// Hops that were planned by `http`, and whose host is known by now to take secure transport only: between the plan of
/// a request and its hops others may have met the host, and the attempt before this one too (RFC 6797 §8.3).
extension Supervisor {
    /// Has a hop that begins go by `https` where its host takes nothing else. That is no redirect of its own: what is
    /// bound to where the fetch began goes along.
    ///
    /// - Returns: False when the fetch may not go there, and has failed.
    mutating func secure(_ fetch: RunningFetch) -> Bool {
        guard planner.secures(fetch.engine.target) else { return true }
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

    /// Lets a hop whose turn has come begin anew where it is to go by `https` by now.
    ///
    /// - Returns: Whether it does; the hop is not in process then.
    mutating func becomesSecure(_ hop: ReadyHop, _ fetch: RunningFetch) -> Bool {
        guard planner.secures(fetch.engine.target) else { return false }
        // It has not started, as far as its host is concerned: the next one waits for nothing.
        fetch.engine.isInHostProcess = false
        hosts.queues.remove(hop.hop, at: hosts.queues.putBack(hop))
        hosts.release(fetch.engine.origin)
        // As after a redirect: it is another request.
        fetch.engine.isSuspect = false
        begin(fetch, front: true)
        return true
    }
}

extension RunningFetch {
    /// Where the fetch began: to that the credentials of its request belong.
    var home: Origin {
        let origin = beginning.target.origin
        return engine.isHomeSecured ? TransportSecurity.upgrade(origin) : origin
    }
}
