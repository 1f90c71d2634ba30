import TrawlHTTP
import TrawlProtocol
import TrawlSupervision

/// What a program decides about storing.
extension Supervisor {
    /// A response rests at its head until it is decided how it is stored.
    mutating func askAboutStoring(_ head: TrawlHTTP.ResponseHead, _ lease: UInt64, _ fetch: RunningFetch) {
        guard let decisions = storingDecider(of: fetch), let binding = fetch.engine.terms.cache else {
            return decided(fetch, lease, .success(nil))
        }
        fetch.engine.asksAboutStoring = true
        stopClock(of: fetch)
        let proposal = StoringChoice(storage: binding.terms.session == nil ? .permanent : .session)
        let (mailbox, url, limit) = (mailbox, fetch.engine.target.text, configuration.decisionTimeout)
        Task {
            let answer = await ProgramAnswer.about("storing", url, within: limit) {
                try await decisions.storing(Response.ResponseHead(head), from: url, proposal: proposal)
            }
            mailbox.post(.decided(fetch, lease: lease, answer.map { StoringOrder($0, binding) }))
        }
    }

    /// It is decided how the response of a lease is stored.
    mutating func decided(_ fetch: RunningFetch, _ lease: UInt64, _ answer: Result<StoringOrder?, FetchError>) {
        guard fetch.engine.life.activeLease?.rawValue == lease, let link = pool.links[fetch.engine.worker]
        else { return }
        stopAskingAboutStoring(fetch)
        let order: StoringOrder?
        switch answer {
        case .success(let decided): order = decided
        case .failure(let error): return conclude(fetch, error)
        }
        if order == nil { release(fetch, .goAlone) }
        _ = link.send(.answer(lease: lease, .keep(order)))
        pool.markDirty(fetch.engine.worker)
    }

    /// It is decided how a response is stored, or nobody waits for that any more.
    mutating func stopAskingAboutStoring(_ fetch: RunningFetch) {
        guard fetch.engine.asksAboutStoring else { return }
        fetch.engine.asksAboutStoring = false
        startClock(of: fetch)
    }
}

extension StoringOrder {
    /// What a worker is told; nil when nothing is to be stored.
    fileprivate init?(_ choice: StoringChoice?, _ binding: CacheBinding) {
        guard let choice, choice.metadata.count <= StoringChoice.longestMetadata else { return nil }
        switch choice.storage {
        case .permanent: self.init(session: nil, metadata: choice.metadata)
        case .session:
            // Without a session there is nothing that would end it.
            guard let session = binding.session else { return nil }
            self.init(session: session, metadata: choice.metadata)
        }
    }
}
