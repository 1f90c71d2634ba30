import Glibc
import TrawlFrontier
import TrawlHTTP
import TrawlPlatform
import TrawlProtocol
import TrawlSupervision

/// What hosts are spared: what the ends of hops say about them, what they ask for, and rules of their own.
extension Supervisor {
    /// Takes down what the end of a hop says about its host, before the hop's place is given back.
    mutating func judge(_ end: LeaseEnd, of fetch: RunningFetch) -> HostOutcome {
        noteAddress(end, of: fetch)
        // What comes from a proxy, or from the store without anybody having been asked, says nothing about the host.
        guard !end.isProxyFailure, !fetch.engine.isStoredHop else { return .unknown }
        guard case .network = end.cache.source else { return judgeReplaced(end, of: fetch) }
        let status = fetch.status(at: end)
        if let status, case .origin = RetryAfter.reach(of: status), let head = fetch.head(at: end) {
            heed(head.fields, fetch)
        }
        switch end.outcome {
        case .complete:
            guard let status else { return .unknown }
            return outcome(of: status)
        case .failed(let failure): return outcome(of: failure, hasHead: status != nil, end.metrics, fetch)
        case .givenUp: return .unknown
        }
    }

    /// The same for a hop that is answered from the store after its host was asked: what the host said counts, and not
    /// what stands in its place.
    private mutating func judgeReplaced(_ end: LeaseEnd, of fetch: RunningFetch) -> HostOutcome {
        switch end.cache.exchange {
        case .unasked: return .unknown
        case .answered(let status):
            if case .origin = RetryAfter.reach(of: status) { heed(end.cache.serverFields, fetch) }
            return outcome(of: status)
        case .failed(let kind, let systemError, let requestSent, let hasHead):
            let failure = HopFailure(kind, systemError: systemError, requestSent: requestSent)
            return outcome(of: failure, hasHead: hasHead, end.metrics, fetch)
        }
    }

    /// What the status of an answer says about its host, where that is counted.
    private func outcome(of status: UInt16) -> HostOutcome {
        guard let circuit = configuration.politeness.circuit else { return .unknown }
        return HostOutcome(status: status, countsServerErrors: circuit.countsServerErrors)
    }

    /// What a failure says, where that is counted.
    private mutating func outcome(
        of failure: HopFailure, hasHead: Bool, _ metrics: HopMetrics, _ fetch: RunningFetch
    ) -> HostOutcome {
        // Nobody's fault but the network's.
        guard configuration.politeness.circuit != nil, !isForWantOfNetwork(failure, metrics, fetch) else {
            return .unknown
        }
        return failure.outcome(hasHead: hasHead)
    }

    /// Leaves a host alone for as long as it asks for.
    private mutating func heed(_ fields: FieldLines, _ fetch: RunningFetch) {
        guard let rest = rest(askedForBy: fields) else { return }
        hosts.queues.snooze(fetch.engine.origin, until: now.advanced(by: rest))
    }

    /// For how long a host is left alone that asks for it, with a status of which that is the meaning; nil when it does
    /// not, or nobody heeds it.
    func rest(askedForBy fields: FieldLines) -> Duration? {
        guard configuration.politeness.respectsRetryAfter,
            let wait = RetryAfter.wait(
                in: fields, now: WallClock.time(), longest: configuration.politeness.longestRetryAfter),
            wait > .zero
        else { return nil }
        return wait
    }

    /// Fails the fetches that wait for hosts that are given up.
    mutating func failAbandoned() {
        guard configuration.politeness.circuit?.retiresAfter != nil else { return }
        while let hop = hosts.queues.nextAbandoned() {
            guard let fetch = fetches[FetchKey(rawValue: hop)] else { continue }
            fetch.engine.place = nil
            hosts.release(fetch.engine.origin)
            if fallsBack(fetch) { continue }
            let host = fetch.engine.target.host.terminalSafe
            let detail = "\(host) failed again and again, and is given up"
            answer(fetch, with: .failure(FetchError(.hostGivenUp, detail, url: fetch.engine.target.text)))
        }
    }

    /// Gives a host rules of its own; nil takes them back. It keeps its number as long as it has some, and with it the
    /// rules.
    mutating func setHostRules(_ rules: HostRules?, of origin: Origin) {
        let number = hosts.setRules(rules, of: hostKey(of: origin))
        closeSurplus(of: number)
        hosts.release(number)
    }

    /// Takes a host back that was given up.
    mutating func restoreHost(_ origin: Origin) { hosts.restore(hostKey(of: origin)) }

    /// A number from 0 to 1, drawn only where one is needed.
    mutating func lot() -> Double { hosts.drawsLots ? .random(in: 0...1, using: &random) : 0 }
}

extension HopFailure {
    /// What the failure says about the host.
    ///
    /// - Parameter hasHead: Whether a final head came before it.
    fileprivate func outcome(hasHead: Bool) -> HostOutcome {
        switch kind {
        case .cannotConnect:
            // No descriptor or memory for a socket is our own trouble, as is no thread for a name (EAGAIN).
            [EMFILE, ENFILE, ENOBUFS, ENOMEM, EAGAIN].contains(systemError) ? .unknown : .failed
        case .hostNotFound, .connectTimedOut, .inactive, .connectionLost, .truncated: .failed
        // The time of a fetch may have passed elsewhere, and an answer is one however long its body takes.
        case .timedOut: hasHead || !requestSent ? .unknown : .failed
        case .malformedResponse, .headTooLarge, .bodyTooLarge, .decoding: .answered
        case .tlsHandshake, .tlsUntrusted, .tlsCertificateDate, .tlsHostMismatch, .tlsClientCertificate,
            .tlsNotYetValid, .tlsSelfSigned, .tlsPin, .tlsClientCertificateRequired, .tlsUndecided:
            .unknown
        case .file, .requestBody, .cancelled, .unsupportedScheme, .malformedRequest, .proxy, .outOfMemory,
            .internalError, .storedResponse:
            .unknown
        }
    }
}
