import TrawlFrontier
import TrawlHTTP
import TrawlPlatform

/// How far one fetch has come, from its events and what its worker's progress words say.
///
/// Bodies of redirects and challenges do not count; a request's body counts each time it is sent.
final class FetchMeter: Sendable {
    private struct State {
        var downloaded: Int64 = 0
        var downloadSize: Int64?
        var downRate = RateMeter()
        var uploaded: Int64 = 0
        var uploadSize: Int64?
        var upRate = RateMeter()
        var decoded: Int64 = 0
        var isComplete = false
        var hop = HopShape()
        /// What was there before the hop in flight, which brings the rest.
        var base: Int64 = 0
        /// When the words were looked at last: what has moved since moved from then on.
        var lookedAt: MonotonicInstant?
        var readers = ProgressReaders()

        mutating func progress(at now: MonotonicInstant) -> TransferProgress {
            TransferProgress(
                download: .init(
                    moved: downloaded, of: downloadSize, bytesPerSecond: downRate.bytesPerSecond(at: now),
                    isComplete: isComplete),
                upload: uploadSize == nil
                    ? .nothing
                    : .init(
                        moved: uploaded, of: uploadSize, bytesPerSecond: upRate.bytesPerSecond(at: now),
                        isComplete: isComplete),
                decoded: decoded, isComplete: isComplete)
        }
    }

    private let state: Guarded<State>

    /// - Parameter isHEAD: Whether no body follows a head, also where there is no attempt: what is stored may answer.
    init(isHEAD: Bool = false) {
        state = Guarded(State(hop: HopShape(isHEAD: isHEAD)))
    }

    /// What is known now.
    var current: TransferProgress {
        let now = MonotonicClock.now()
        return state.withLock { $0.progress(at: now) }
    }

    /// Whether somebody waits for values.
    var isFollowed: Bool { state.withLock { !$0.readers.isEmpty } }

    /// The values from now on. The last one comes when the fetch is over, at once if it is.
    func values(every interval: Duration) -> AsyncStream<TransferProgress> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: TransferProgress.self, bufferingPolicy: .bufferingNewest(1))
        let now = MonotonicClock.now()
        let (number, progress) = state.withLock { state -> (UInt64?, TransferProgress) in
            (
                state.isComplete ? nil : state.readers.add(continuation, every: interval),
                state.progress(at: now)
            )
        }
        guard let number else {
            continuation.yield(progress)
            continuation.finish()
            return stream
        }
        continuation.onTermination = { [weak self] _ in
            self?.state.withLock { $0.readers.remove(number) }
        }
        return stream
    }

    /// Keeps what the next attempt sends.
    func record(_ request: SentRequest) {
        state.withLock { $0.hop.next = request }
    }

    /// Something happened to the fetch.
    func note(_ event: FetchEvent) {
        switch event {
        case .attempt:
            state.withLock { state in
                let sendsBody = state.hop.begin()
                state.base = 0
                state.downloaded = 0
                state.downloadSize = nil
                state.decoded = 0
                if let length = sendsBody {
                    state.uploaded = 0
                    state.uploadSize = length
                }
            }
        case .head(let head): state.withLock { $0.downloadSize = $0.hop.size(of: head) }
        case .resumedAtOffset(let offset): goOn(behind: Int64(clamping: offset))
        case .ended(let result): end(result)
        case .started, .forwarded, .interim, .authenticating, .waitingForConnectivity, .retrying, .redirected, .data,
            .progress:
            return
        }
    }

    /// The words of the hop in flight.
    func measured(_ progress: FetchProgress, at now: MonotonicInstant) {
        tell(at: now) { state in
            let since = state.lookedAt ?? now
            state.lookedAt = now
            let sent = Int64(clamping: progress.sent)
            if state.hop.sendsBody {
                state.upRate.moved(sent - state.uploaded, at: since)
                state.uploaded = sent
            }
            guard state.hop.hasHead else { return }
            let received = state.base.addingClamping(Int64(clamping: progress.received))
            state.downRate.moved(received - state.downloaded, at: since)
            state.downloaded = received
            state.decoded = state.base.addingClamping(Int64(clamping: progress.decoded))
            if let expected = progress.expected {
                // As much as a server announces.
                state.downloadSize = state.base.addingClamping(Int64(clamping: expected))
            }
        }
    }

    /// The rest comes, behind what is there.
    private func goOn(behind offset: Int64) {
        state.withLock { state in
            state.hop.goOn()
            state.base = offset
            state.downloaded = offset
            state.decoded = offset
            if let rest = state.downloadSize { state.downloadSize = offset.addingClamping(rest) }
        }
    }

    private func end(_ result: Result<Response, FetchError>) {
        tell(at: MonotonicClock.now(), isFinal: true) { state in
            state.isComplete = true
            guard case .success(let response) = result else { return }
            // What came from the cache was as long as it was.
            let size = max(state.downloaded, state.downloadSize ?? 0)
            state.downloadSize = size
            state.downloaded = size
            state.decoded = Int64(clamping: response.receivedLength)
            if let size = state.uploadSize { state.uploaded = size }
        }
    }

    /// Ends all sequences without a last value.
    func silence() {
        let readers = state.withLock { state in
            state.isComplete = true
            return state.readers.removeAll()
        }
        for reader in readers { reader.finish() }
    }

    private func tell(at now: MonotonicInstant, isFinal: Bool = false, after change: (inout State) -> Void) {
        let due: (progress: TransferProgress, readers: [ProgressReaders.Stream.Continuation])? =
            state.withLock { state in
                guard !state.isComplete else { return nil }
                change(&state)
                if state.readers.isEmpty { return nil }
                let readers = isFinal ? state.readers.removeAll() : state.readers.due(at: now, isFinal: false)
                return readers.isEmpty ? nil : (state.progress(at: now), readers)
            }
        guard let due else { return }
        for reader in due.readers {
            reader.yield(due.progress)
            if isFinal { reader.finish() }
        }
    }
}

/// What is known of the hop in flight, as far as progress is concerned.
struct HopShape: Sendable {
    /// What the next attempt sends.
    var next: SentRequest?
    /// Whether this hop has a request body.
    private(set) var sendsBody = false
    /// Whether the head of the response that is the answer has come.
    private(set) var hasHead = false
    private var isHEAD: Bool

    /// - Parameter isHEAD: Whether that is the method before an attempt has another.
    init(isHEAD: Bool = false) { self.isHEAD = isHEAD }

    /// An attempt begins.
    ///
    /// - Returns: The length of the body it sends; nil when it sends none. What was sent of an earlier one is done
    ///   then.
    mutating func begin() -> Int64? {
        hasHead = false
        isHEAD = next?.method == .head
        let length = next?.bodyLength.map { Int64($0) }
        sendsBody = length != nil
        return length
    }

    /// The rest of a body comes whose head has come before.
    mutating func goOn() { hasHead = true }

    /// The head of the answer has come.
    ///
    /// - Returns: How many bytes of body follow (RFC 9110 §6.4.1, §8.6); nil when it says nothing of that.
    mutating func size(of head: Response.ResponseHead) -> Int64? {
        hasHead = true
        if isHEAD || head.status == 204 || head.status == 304 { return 0 }
        // RFC 9112 §6.1: a transfer coding takes the place of a length.
        if head.fields["Transfer-Encoding"] != nil { return nil }
        return head.fields["Content-Length"].flatMap { Int64($0) }.map { max(0, $0) }
    }
}
