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
        // What comes from the store or a proxy says nothing about the host.
        guard case .network = end.cache.source, !end.isProxyFailure, !fetch.engine.isStoredHop else { return .unknown }
        let status = fetch.status(at: end)
        if let status, case .origin = RetryAfter.reach(of: status), let head = fetch.head(at: end) {
            heed(head, fetch)
        }
        guard let circuit = configuration.politeness.circuit else { return .unknown }
        switch end.outcome {
        case .complete:
            return status.map { HostOutcome(status: $0, countsServerErrors: circuit.countsServerErrors) } ?? .unknown
        // Nobody's fault but the network's.
        case .failed(let failure) where isForWantOfNetwork(failure, end.metrics, fetch): return .unknown
        case .failed(let failure): return failure.outcome(hasHead: status != nil)
        case .givenUp: return .unknown
        }
    }

    /// Leaves a host alone for as long as it asks for.
    private mutating func heed(_ head: TrawlHTTP.ResponseHead, _ fetch: RunningFetch) {
        guard configuration.politeness.respectsRetryAfter,
            let wait = RetryAfter.wait(
                in: head.fields, now: WallClock.time(), longest: configuration.politeness.longestRetryAfter),
            wait > .zero
        else { return }
        hosts.queues.snooze(fetch.engine.origin, until: now.advanced(by: wait))
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
