import Glibc
import TrawlFrontier
import TrawlHTTP
import TrawlPlatform
import TrawlProtocol

/// Names that were not found a moment ago, whichever worker asked (``Configuration/unknownNameLifetime``).
extension Supervisor {
    /// CURLE_COULDNT_RESOLVE_HOST
    private static let notResolved: UInt32 = 6

    /// Takes down what the end of a hop says about its host's name.
    mutating func noteName(_ failure: HopFailure, _ metrics: HopMetrics, _ fetch: RunningFetch) {
        // Without a network no name is found, nor just after it came back, and that says nothing about any.
        guard failure.kind == .hostNotFound, let name = fetch.nameToResolve, networkStatus != .none,
            !isForWantOfNetwork(failure, metrics, fetch)
        else { return }
        unknownNames.note(name, at: now)
    }

    /// A response has come: its name is found.
    mutating func foundName(_ fetch: RunningFetch) {
        if !unknownNames.isEmpty, let name = fetch.nameToResolve { unknownNames.remove(name) }
    }

    /// Fails a hop whose turn has come and whose name is known not to be found.
    ///
    /// - Returns: Whether it did; the hop is not in process then.
    mutating func failsByName(_ ready: ReadyHop, _ fetch: RunningFetch) -> Bool {
        guard isUnknown(fetch) else { return false }
        // It has not started, as far as its host is concerned: the next one waits for nothing.
        hosts.queues.remove(ready.hop, at: hosts.queues.putBack(ready))
        hosts.release(fetch.engine.origin)
        failByName(fetch, afterLookup: false)
        return true
    }

    /// Whether the name of a hop is known not to be found.
    mutating func isUnknown(_ fetch: RunningFetch) -> Bool {
        guard !unknownNames.isEmpty, let name = fetch.nameToResolve else { return false }
        let triesAgain =
            (fetch.engine.retries?.failed ?? 0) > 0 || fetch.engine.networkWait?.isSettling(at: now) == true
        return unknownNames.contains(name, at: now, triesAgain: triesAgain)
    }

    /// Fails a hop that waits because its name has no address.
    ///
    /// - Parameter afterLookup: Whether that was found out just now, and not by a hop before.
    mutating func failByName(_ fetch: RunningFetch, afterLookup: Bool) {
        let failure = HopFailure(
            .hostNotFound, curlCode: Self.notResolved, detail: "Could not resolve host: \(fetch.engine.target.host)")
        if afterLookup { noteName(failure, HopMetrics(), fetch) }
        if fallsBack(fetch) || waitsForNetwork(after: failure, HopMetrics(), fetch) { return }
        failUnresolved(fetch, failure)
    }

    /// Fails a hop that waits for its name, for which there is no thread to look it up: that says nothing about the name.
    mutating func failUnasked(_ fetch: RunningFetch) {
        if fallsBack(fetch) { return }
        let error = SystemError(errno: EAGAIN, call: "pthread_create")
        failUnresolved(fetch, HopFailure(.cannotConnect, systemError: error.errno, detail: error.description))
    }

    private mutating func failUnresolved(_ fetch: RunningFetch, _ failure: HopFailure) {
        if triesAgain(after: failure, status: nil, fetch) { return }
        release(fetch, .fail(failure, HopMetrics(), nil))
        answer(fetch, with: .failure(FetchError(failure, fetch: fetch)))
    }
}

extension RunningFetch {
    /// The name that the next hop asks the resolver for; nil when there is none, or who asks is a proxy.
    fileprivate var nameToResolve: UnknownNames.Name? {
        let transport = engine.terms.profile
        // Those have addresses of their own for some names.
        guard goesDirectly, transport.resolve.isEmpty, transport.connectTo.isEmpty else { return nil }
        return UnknownNames.Name(host: engine.target.host, family: transport.addressFamily.rawValue)
    }
}
