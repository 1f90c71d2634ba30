import TrawlHTTP
import TrawlProtocol
import TrawlSupervision

/// What a program decides about storing.
extension Supervisor {
    /// A response rests at its head until it is decided how it is stored.
    mutating func askAboutStoring(_ head: TrawlHTTP.ResponseHead, _ lease: UInt64, _ fetch: RunningFetch) {
        guard let decisions = decider(of: fetch), let binding = fetch.engine.terms.cache else {
            return decided(fetch, lease, nil)
        }
        let proposal = StoringChoice(storage: binding.terms.session == nil ? .permanent : .session)
        let (mailbox, url) = (mailbox, fetch.engine.target.text)
        Task {
            let choice = await decisions.storing(Response.ResponseHead(head), from: url, proposal: proposal)
            var order: StoringOrder?
            if let choice, choice.metadata.count <= StoringChoice.longestMetadata {
                order = StoringOrder(session: nil, metadata: choice.metadata)
                if choice.storage == .session {
                    order?.session = binding.session
                    // Without a session there is nothing that would end it.
                    if order?.session == nil { order = nil }
                }
            }
            mailbox.post(.decided(fetch, lease: lease, order))
        }
    }

    /// It is decided how the response of a lease is stored.
    mutating func decided(_ fetch: RunningFetch, _ lease: UInt64, _ order: StoringOrder?) {
        guard fetch.engine.life.activeLease?.rawValue == lease, let link = links[fetch.engine.worker] else { return }
        if order == nil { release(fetch, .goAlone) }
        _ = link.send(.answer(lease: lease, .keep(order)))
        markDirty(fetch.engine.worker)
    }
}
