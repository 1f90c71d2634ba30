import Glibc
import TrawlFrontier
import TrawlHTTP
import TrawlPlatform
import TrawlProtocol
import TrawlSession

/// Fetches that wait for the network to come back (``RequestOptions/waitsForConnectivity``).
extension Supervisor {
    /// How long a fetch waits that fails just after the network came back.
    private static let settlingDelay = Duration.seconds(1)

    /// Whether a failure is that of the network, and the fetch is one that waits for it.
    mutating func isForWantOfNetwork(_ failure: HopFailure, _ metrics: HopMetrics, _ fetch: RunningFetch) -> Bool {
        guard let wait = fetch.engine.networkWait, failure.mayBeForWantOfNetwork(metrics), !fetch.staysOnThisMachine
        else { return false }
        return networkStatus == .none || wait.isSettling(at: now)
    }

    /// Lets a fetch wait that failed because there is no network. It counts as no attempt. While the coordinator closes
    /// the fetch ends with it, as those that wait already.
    ///
    /// - Returns: Whether it does either.
    mutating func waitsForNetwork(after failure: HopFailure, _ metrics: HopMetrics, _ fetch: RunningFetch) -> Bool {
        guard let wait = fetch.engine.networkWait, isForWantOfNetwork(failure, metrics, fetch) else { return false }
        let left = wait.left
        if let left, left == .zero { return false }
        release(fetch, .promote)
        guard case .no = closing else {
            answer(fetch, with: .failure(.shutDown(url: fetch.engine.target.text)))
            return true
        }
        // The time that an exchange may take does not pass meanwhile.
        endExchange(of: fetch)
        wait.count += 1
        let reason = FetchError(failure, fetch: fetch)
        // The way there may be another one by then, and the first of several is to be tried first again.
        fetch.engine.way = nil
        guard networkStatus == .none else {
            wait.waited += Self.settlingDelay
            park(fetch, until: now.advanced(by: Self.settlingDelay))
            return true
        }
        wait.since = now
        wait.reason = reason
        networkWaits.insert(fetch.engine.key, until: left.map { now.advanced(by: $0) })
        network.note(isMissed: true)
        if !wait.isTold {
            wait.isTold = true
            fetch.channel?.post(.waitingForConnectivity)
        }
        return true
    }

    /// The network is another one.
    mutating func networkChanged() {
        unknownNames.removeAll()
        guard networkStatus != .none else { return }
        network.note(isMissed: false)
        scriptAnswers.forget()
        scripts.lookAgain()
        for key in networkWaits.removeAll() {
            guard let fetch = fetches[key], let wait = fetch.engine.networkWait, wait.since != nil,
                fetch.engine.mayBegin
            else { continue }
            if let stoppedAt = fetch.engine.stoppedAt { wait.giveBack(stoppedAt.duration(to: now), at: now) }
            wait.ended(at: now)
            begin(fetch, front: true)
        }
    }

    /// Fails the fetches that have waited as long as they may.
    mutating func endNetworkWaits() {
        while let key = networkWaits.nextExpired(at: now) {
            guard let fetch = fetches[key], let wait = fetch.engine.networkWait, let reason = wait.reason,
                fetch.engine.mayBegin
            else { continue }
            // It is suspended: what it has left counts from when it is resumed.
            guard fetch.engine.stoppedAt == nil else {
                networkWaits.insert(key, until: nil)
                continue
            }
            answer(fetch, with: .failure(reason))
        }
        networkWaits.compact()
    }

    /// What the network is; from the first question on the supervisor is told of changes.
    var networkStatus: NetworkPath.Status {
        mutating get {
            let watch = network.watch
            if !followsNetwork {
                followsNetwork = true
                let mailbox = mailbox
                // What is told first is what there is already.
                let known = Guarded(watch.recentPath)
                _ = watch.observe { path in
                    let isNew = known.withLock { known in
                        defer { known = path }
                        return known != path
                    }
                    if isNew { mailbox.post(.networkChanged) }
                }
            }
            return watch.recentPath.status
        }
    }
}

extension RunningFetch {
    /// Whether the next hop leads to this machine itself: then no network has to do with it.
    fileprivate var staysOnThisMachine: Bool {
        CookieTarget.isLoopback(engine.way?.proxy?.host ?? engine.target.host)
    }
}

extension HopFailure {
    /// Whether want of a network may be the reason: there is no route, or a name was not resolved.
    fileprivate func mayBeForWantOfNetwork(_ metrics: HopMetrics) -> Bool {
        switch kind {
        case .hostNotFound: true
        // Of names, the time for a connection is also that of a resolver that does not answer.
        case .connectTimedOut: metrics.nameResolved == 0
        // CURLE_INTERFACE_FAILED: the address, or the interface, that connections are to come from is not there.
        case .cannotConnect: isUnreachable || curlCode == 45
        // CURLE_COULDNT_RESOLVE_PROXY, and not for want of a thread.
        case .proxy: isUnreachable || (curlCode == 5 && systemError != EAGAIN)
        case .tlsHandshake, .tlsUntrusted, .tlsCertificateDate, .tlsHostMismatch, .tlsClientCertificate, .inactive,
            .timedOut, .connectionLost, .truncated, .malformedResponse, .headTooLarge, .bodyTooLarge, .decoding, .file,
            .requestBody, .cancelled, .unsupportedScheme, .malformedRequest, .outOfMemory, .internalError,
            .storedResponse, .tlsNotYetValid, .tlsSelfSigned, .tlsPin, .tlsClientCertificateRequired, .tlsUndecided:
            false
        }
    }

    private var isUnreachable: Bool {
        [ENETUNREACH, EHOSTUNREACH, ENETDOWN, EADDRNOTAVAIL].contains(systemError)
    }
}
