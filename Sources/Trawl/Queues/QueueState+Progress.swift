import TrawlFrontier
import TrawlHTTP
import TrawlPlatform

/// How far a queue's fetches have come, as the engine and their ends tell.
extension QueueState {
    /// An attempt of a fetch begins: what was moved by the one before counts no more.
    mutating func attemptBegan(_ id: QueueMachine.FetchID) {
        guard let run = runs[id], run.counts, shares[id] != nil else { return }
        var hop = run.hop
        let sendsBody = hop.begin() != nil
        runs[id]?.hop = hop
        decoded -= Int128(run.decoded)
        runs[id]?.decoded = 0
        runs[id]?.base = 0
        runs[id]?.length = nil
        move(downTo: 0, of: id)
        if sendsBody { move(upTo: 0, of: id) }
    }

    mutating func headCame(_ head: Response.ResponseHead, of id: QueueMachine.FetchID) {
        guard var hop = runs[id]?.hop, shares[id] != nil else { return }
        let length = hop.size(of: head)
        runs[id]?.hop = hop
        runs[id]?.length = length
        learn(length, of: id)
    }

    /// The rest of the body comes, behind what is there.
    mutating func goesOn(behind offset: Int64, of id: QueueMachine.FetchID) {
        runs[id]?.hop.goOn()
        runs[id]?.base = offset
        // RFC 9110 §15.3.7: the length of a 206 is that of the part.
        if let rest = runs[id]?.length { learn(offset.addingClamping(rest), of: id) }
        move(downTo: offset, of: id)
    }

    /// How much there is of a body became known, or turned out to be another number.
    ///
    /// - Parameter size: Of the whole; nil when nobody says it.
    private mutating func learn(_ size: Int64?, of id: QueueMachine.FetchID) {
        guard var share = shares[id]?.down else { return }
        let step = down.learned(size, of: &share)
        shares[id]?.down = share
        readers.tell(step, .download, id)
    }

    mutating func measured(_ progress: FetchProgress, of id: QueueMachine.FetchID, at now: MonotonicInstant) {
        guard let run = runs[id], run.counts, let share = shares[id] else { return }
        if lookedAt != now {
            previousLook = lookedAt
            lookedAt = now
        }
        let since = previousLook ?? now
        if run.hop.sendsBody {
            upRate.moved(Int64(clamping: progress.sent) - (share.up?.moved ?? 0), at: since)
            move(upTo: Int64(clamping: progress.sent), of: id)
        }
        if run.hop.hasHead {
            let received = run.base.addingClamping(Int64(clamping: progress.received))
            downRate.moved(received - share.down.moved, at: since)
            move(downTo: received, of: id)
            let unfolded = run.base.addingClamping(Int64(clamping: progress.decoded))
            decoded += Int128(unfolded - run.decoded)
            runs[id]?.decoded = unfolded
        }
    }

    private mutating func move(downTo bytes: Int64, of id: QueueMachine.FetchID) {
        guard var share = shares[id]?.down, share.moved != bytes else { return }
        let step = down.moved(bytes - share.moved, of: &share)
        shares[id]?.down = share
        readers.tell(step, .download, id)
    }

    private mutating func move(upTo bytes: Int64, of id: QueueMachine.FetchID) {
        guard var share = shares[id]?.up, share.moved != bytes else { return }
        let step = up.moved(bytes - share.moved, of: &share)
        shares[id]?.up = share
        readers.tell(step, .upload, id)
    }

    /// What a sizing request says (ASI-PROG-03).
    mutating func sized(_ response: Response, _ id: QueueMachine.FetchID) {
        // A server that has no HEAD (RFC 9110 §15.5.6, §15.6.2) does not know the size; otherwise the GET may tell it
        // yet.
        let isRefused = response.status == 405 || response.status == 501
        guard isRefused || response.expectedLength != nil else { return }
        learn(isRefused ? nil : response.expectedLength.map { Int64(clamping: $0) }, of: id)
    }

    mutating func progress(at now: MonotonicInstant = MonotonicClock.now()) -> TransferProgress {
        let elapsed = runningTime.total(at: now)
        var upload = TransferProgress.Direction.nothing
        if up.total > 0 || up.livingCount > 0 { upload = .init(up, &upRate, elapsed, at: now) }
        return TransferProgress(
            download: .init(down, &downRate, elapsed, at: now), upload: upload, decoded: Int64(clamping: decoded),
            isComplete: isOver)
    }

    /// Another way to count is taken up when nothing is pending.
    mutating func countAnew() {
        let mode: ProgressTally.Mode = settings.progress == .accurate ? .accurate : .simple
        guard down.mode != mode || down.isMonotonic != settings.isProgressMonotonic else { return }
        down = ProgressTally(mode, isMonotonic: settings.isProgressMonotonic)
        up = ProgressTally(.accurate, isMonotonic: settings.isProgressMonotonic)
        decoded = 0
        runningTime.reset(at: MonotonicClock.now())
    }

    /// Tells those who follow progress, when it is time.
    mutating func tellProgress(at now: MonotonicInstant, isFinal: Bool = false) {
        let due = readers.due(at: now, isFinal: isFinal)
        if due.isEmpty { return }
        let progress = progress(at: now)
        readers.tell(progress, to: due)
    }
}
