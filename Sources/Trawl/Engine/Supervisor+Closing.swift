import Glibc
import TrawlHTTP
import TrawlPlatform
import TrawlSupervision

/// Shutdown: stop leasing, drain to a deadline, close the sockets, SIGTERM, SIGKILL.
extension Supervisor {
    /// Takes no more fetches; those that wait fail now, those in flight when the grace is over.
    mutating func beginShutdown(grace: Duration) {
        switch closing {
        case .no:
            closing = .draining(until: now.advanced(by: grace))
            let hasWorker = pool.links.contains { $0?.isGreeted == true }
            validationGrace.begin(grace, each: configuration.validationGrace, hasWorker: hasWorker, at: now)
            // What is suspended would not end in time either.
            for fetch in fetches.all
            where (fetch.engine.life.isWaiting || fetch.engine.isSuspended)
                && !mayStillValidate(fetch)
            {
                conclude(fetch, .shutDown(url: fetch.engine.target.text))
            }
        case .draining(let until):
            // Asked again: the shorter grace counts.
            closing = .draining(until: min(until, now.advanced(by: grace)))
            validationGrace.shorten(to: grace, at: now)
        case .ending:
            break
        }
        runClosing()
    }

    /// Goes on with a shutdown when its time has come.
    mutating func runClosing() {
        switch closing {
        case .no:
            break
        case .draining(let until):
            guard now >= until || fetches.count == 0 else { return }
            for fetch in fetches.all where !mayStillValidate(fetch) {
                conclude(fetch, .shutDown(url: fetch.engine.target.text))
            }
            // Files that are complete by now are told of, as those of before.
            if now < until.advanced(by: Self.exitGrace), isEndingFiles { return }
            // Who was served what is stale was promised that it is validated (RFC 5861 §3), also when that is all.
            if !revalidations.isEmpty, now < validationGrace.end { return }
            for slot in pool.slots.indices { endWorker(slot) }
            closing = .ending(nextSignal: now.advanced(by: Self.exitGrace))
        case .ending(let next):
            guard now >= next else { return }
            for slot in pool.slots.indices { perform(pool.slots[slot].kill(.shutdown), on: slot) }
            closing = .ending(nextSignal: now.advanced(by: Self.exitGrace))
        }
    }

    /// The stream's end is what tells a worker to go: it holds no lease that matters. One that has not said that it is
    /// ready may not look there yet, or never. The slot is not used again.
    private mutating func endWorker(_ slot: Int) {
        pool.restart(slot, at: nil)
        leases.workerDraining(slot)
        switch pool.slots[slot].drain() {
        case .askWorker, .none: pool.links[slot]?.closeStream(poller)
        case .terminate:
            pool.links[slot]?.closeStream(poller)
            perform(.terminate, on: slot)
        case .retire: break
        }
        if let link = pool.links[slot], case .thread = link.engine { workerExited(link) }
    }

    /// Whether workers are still to say what became of files.
    private var isEndingFiles: Bool {
        for key in cancelling.keys where fetches[key]?.engine.ending != nil { return true }
        return false
    }

    /// Whether a fetch for nobody may go on, or begin, while all others end.
    func mayStillValidate(_ fetch: RunningFetch) -> Bool {
        if case .nobody = fetch.reply { return now < validationGrace.end }
        return false
    }
}
