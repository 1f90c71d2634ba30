internal import TrawlHTTP

/// How far fetches have come in one direction, down or up: what is done of what there is to do.
///
/// An *accurate* tally counts bytes, as far as sizes are known: the size of a fetch counts from when it is learned, so
/// what is added late moves the whole back. A fetch without a size counts as one unit, done when it ends. A *simple*
/// tally counts each fetch as one unit from when it is added.
///
/// Each fetch's part is a ``Share`` that its caller keeps; the tally is told of its changes and keeps sums alone. When
/// every share has ended, what is done is what there was to do.
///
/// - Source: the progress tracking of ASIHTTPRequest and its network queue.
package struct ProgressTally: Sendable, Hashable {
    /// What is counted.
    package enum Mode: Sendable, Hashable {
        /// Bytes where sizes are known.
        case accurate
        /// Fetches.
        case simple
    }

    /// One fetch's part. Of no other tally.
    package struct Share: Sendable, Hashable {
        fileprivate enum State: Sendable { case unknown, sized, unit, ended }

        fileprivate var state = State.unknown
        /// The tally's state when it was added; a share of before a reset changes nothing.
        fileprivate var epoch: UInt32
        /// Bytes moved so far, not negative.
        package fileprivate(set) var moved: Int64 = 0
        /// Bytes there are to move, as far as they count; 0 as long as no size is known.
        package fileprivate(set) var size: Int64 = 0
    }

    /// What an event changed, for those who follow bytes: both may be negative.
    package struct Step: Sendable, Hashable {
        /// Bytes moved.
        package var moved: Int64
        /// Bytes there are to move.
        package var size: Int64
        /// Nothing changed.
        package static let none = Step()

        /// A change.
        package init(moved: Int64 = 0, size: Int64 = 0) {
            self.moved = moved
            self.size = size
        }
    }

    /// What is counted.
    package let mode: Mode
    /// Whether ``fraction`` never goes back, whatever is added or taken back.
    package let isMonotonic: Bool
    /// Bytes and units done. Not negative, and never more than `total`.
    package var completed: Int64 { Int64(clamping: doneBytes + doneUnits) }
    /// Bytes and units there are. An unknown size is not in it.
    package var total: Int64 { Int64(clamping: bytes + units) }
    /// Shares that were added and have not ended.
    package private(set) var livingCount = 0
    /// Whether what is left can be said in bytes: no share that has not ended counts as a unit, or has no size yet.
    package var isInBytes: Bool { mode == .accurate && livingUnits == 0 && unknownCount == 0 }

    private var epoch: UInt32 = 0
    /// Wider than any share, so that no sum of what servers announce overflows.
    private var doneBytes: Int128 = 0
    private var bytes: Int128 = 0
    private var doneUnits: Int128 = 0
    private var units: Int128 = 0
    private var livingUnits = 0
    private var unknownCount = 0
    private var hasShares = false
    private var highest = 0.0

    /// A tally of nothing.
    package init(_ mode: Mode, isMonotonic: Bool = false) {
        self.mode = mode
        self.isMonotonic = isMonotonic
    }

    /// From 0 to 1: 1 when every share has ended, and 0 while nothing is known.
    ///
    /// A monotonic tally keeps a little back until then.
    package var fraction: Double { isMonotonic ? highest : current }

    private var current: Double {
        if livingCount == 0 { return hasShares ? 1 : 0 }
        let all = bytes + units
        return all == 0 ? 0 : min(1, Double(doneBytes + doneUnits) / Double(all))
    }

    private mutating func noteFraction() {
        // What is not over does not look as if it were, or there would be nowhere to go when more is added.
        highest = max(highest, livingCount == 0 ? current : min(current, 0.99))
    }

    /// A fetch was added.
    package mutating func add() -> Share {
        hasShares = true
        livingCount += 1
        switch mode {
        case .accurate: unknownCount += 1
        case .simple:
            units += 1
            livingUnits += 1
        }
        noteFraction()
        return freshShare
    }

    /// The share of a fetch that was added since the last reset and of which nothing more was told: all of them are the
    /// same, so they need not be kept.
    package var freshShare: Share {
        var share = Share(epoch: epoch)
        if mode == .simple { share.state = .unit }
        return share
    }

    /// The size of a fetch became known, or turned out to be another: by a sizing request, or the head of its response.
    ///
    /// - Parameter size: In bytes, those there already included when a transfer is resumed; nil when the response that
    ///   is to be read says none. The head of a redirect is not to be reported here.
    package mutating func learned(_ size: Int64?, of share: inout Share) -> Step {
        guard share.epoch == epoch else { return .none }
        switch (share.state, size) {
        case (.ended, _), (.unit, _): return .none
        case (.unknown, nil):
            unknownCount -= 1
            countAsUnit(&share)
            return .none
        case (.sized, nil):
            // A size that was asked for before is not confirmed: what was moved remains, as far as bytes are told.
            doneBytes -= Int128(share.moved)
            bytes -= Int128(share.size)
            let step = Step(size: -share.size)
            share.size = 0
            countAsUnit(&share)
            return step
        case (.unknown, .some(let size)):
            unknownCount -= 1
            share.state = .sized
            doneBytes += Int128(share.moved)
            return resize(&share, to: max(0, size))
        case (.sized, .some(let size)):
            return resize(&share, to: max(0, size))
        }
    }

    /// Bytes of a fetch moved, or were taken back: a resumed part that the server refused, an upload that starts again.
    ///
    /// - Parameter delta: Bytes since the last report; negative when they are taken back, at most as many as were
    ///   moved.
    package mutating func moved(_ delta: Int64, of share: inout Share) -> Step {
        guard share.epoch == epoch, share.state != .ended else { return .none }
        let before = share.moved
        share.moved = max(0, before.addingClamping(delta))
        var step = Step(moved: share.moved - before)
        if share.state == .sized {
            doneBytes += Int128(step.moved)
            // More than was announced: there is as much to move as has moved.
            if share.moved > share.size { step.size = resize(&share, to: share.moved).size }
        }
        noteFraction()
        return step
    }

    /// A fetch ended, however it did: nothing of it is left to do.
    ///
    /// A good one was moved whole, though not all of it by the network; of one that failed counts what was moved.
    package mutating func ended(_ share: inout Share, isSuccess: Bool) -> Step {
        guard share.epoch == epoch, share.state != .ended else { return .none }
        var step = Step.none
        livingCount -= 1
        switch share.state {
        case .unknown: unknownCount -= 1
        case .unit:
            livingUnits -= 1
            doneUnits += 1
        case .sized where isSuccess:
            step.moved = share.size - share.moved
            doneBytes += Int128(step.moved)
            share.moved = share.size
        case .sized: step = resize(&share, to: share.moved)
        case .ended: break
        }
        share.state = .ended
        noteFraction()
        return step
    }

    /// Forgets all shares: they change nothing any more.
    package mutating func reset() {
        let next = epoch &+ 1
        self = ProgressTally(mode, isMonotonic: isMonotonic)
        epoch = next
    }

    private mutating func countAsUnit(_ share: inout Share) {
        share.state = .unit
        units += 1
        livingUnits += 1
        noteFraction()
    }

    private mutating func resize(_ share: inout Share, to size: Int64) -> Step {
        let new = max(size, share.moved)
        let step = Step(size: new - share.size)
        bytes += Int128(step.size)
        share.size = new
        noteFraction()
        return step
    }
}
