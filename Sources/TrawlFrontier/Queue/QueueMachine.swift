/// The life of a queue of fetches, as a program makes one: which fetch may start, which are cancelled, and what is
/// told, in which order.
///
/// A queue starts suspended. Running, it has at most a *width* of fetches in process; those of higher priority go
/// first, then those that could start first. One that is suspended by itself takes no place. A fetch may depend on
/// others. An accurate queue asks for the size of each fetch that was added while it was suspended, by a *sizing*
/// request before it: those go before all else, count for the width, and nothing is told of them. The first failure, or
/// cancelling, cancels all the rest, unless the settings say otherwise.
///
/// Each event changes the machine; what is to be done then comes out of ``next()``, until that has no more. Every fetch
/// that was added is told as finished or failed exactly once, and each time the last one was, the queue is told as
/// finished. (A ``reset()`` is the exception: nothing is told any more of what was there.)
///
/// - Source: the network queue of ASIHTTPRequest, `NSOperationQueue`.
package struct QueueMachine: Sendable {
    /// What a copy of a queue takes over.
    package struct Settings: Sendable, Hashable {
        /// How many fetches, sizing requests among them, run at a time. At least 1.
        package var width: Int
        /// Whether the first fetch that fails or is cancelled cancels all others.
        package var cancelsOthersOnFailure: Bool
        /// Whether sizes are asked for before fetches start.
        package var isAccurate: Bool

        /// Settings; by default four at a time, all or nothing, and without sizes.
        package init(width: Int = 4, cancelsOthersOnFailure: Bool = true, isAccurate: Bool = false) {
            self.width = max(1, width)
            self.cancelsOthersOnFailure = cancelsOthersOnFailure
            self.isAccurate = isAccurate
        }
    }

    /// A fetch of this queue. Never used again, whatever becomes of the fetch.
    package struct FetchID: Sendable, Hashable {
        let index: UInt32
        /// Which use of its place it is.
        package let generation: UInt32
        /// Its place among what the caller keeps of fetches, counted from 0. Used again for another fetch later.
        package var place: Int { Int(index) }
    }

    /// How a fetch or a sizing request ended. A response is a success whatever its status.
    package enum Ending: Sendable, Hashable {
        /// With what was asked for.
        case succeeded
        /// With an error, which the caller keeps.
        case failed
    }

    /// Why a fetch is told as failed.
    package enum FailureReason: Sendable, Hashable {
        /// By its own error.
        case own
        /// By the error of its sizing request.
        case sizing
        /// What it depended on failed.
        case dependency(FetchID)
        /// It was cancelled, alone or with others.
        case cancelled
    }

    /// What the caller does.
    package enum Action: Sendable, Hashable {
        /// Start the fetch.
        case start(FetchID)
        /// Start the request for the fetch's size.
        case startSizing(FetchID)
        /// Let the fetch go on, which was started, suspended and resumed.
        case goOn(FetchID)
        /// Cancel the fetch, which runs; its end is still to be reported here.
        case cancel(FetchID)
        /// Cancel its sizing request, which runs; the same.
        case cancelSizing(FetchID)
        /// Progress starts at nothing again.
        case resetProgress
        /// Tell that the fetch finished; `pending` fetches are left.
        case tellFinished(FetchID, pending: Int)
        /// Tell that the fetch failed; `pending` fetches are left.
        case tellFailed(FetchID, FailureReason, pending: Int)
        /// Tell that all fetches were told.
        case tellQueueFinished
    }

    /// What was chosen when the queue was made, or changed since.
    package private(set) var settings: Settings
    /// Fetches of which the end was not told yet: those that wait or run. What ``next()`` gives out to be told counts
    /// as told.
    package private(set) var pendingCount = 0
    /// Whether nothing starts. A new queue is suspended.
    package private(set) var isSuspended = true
    /// Whether what makes the fetches is over.
    private(set) var isEngineOver = false
    /// Fetches and sizing requests that were started, have not ended and are not suspended, those of before a reset
    /// among them.
    package internal(set) var runningCount = 0

    /// How often progress was set to nothing so far: what was added before does not count after that.
    package private(set) var progressResets: UInt32 = 0

    /// Fetches that have not ended.
    var livingCount = 0
    /// Whether the queue's end is to be told once all fetches were told.
    private var owesEnd = false
    var entries: [Entry] = []
    /// Places in use, those of fetches that a reset has forgotten among them.
    var usedCount = 0
    /// Which use the first of a new place is.
    var firstGeneration: UInt32 = 0
    var firstFree = Link.none
    var edges: [Edge] = []
    var firstFreeEdge = Link.none
    /// What may start or go on, in lines by ``line(of:)``.
    var ready = [Line](repeating: Line(), count: sizingLine + 1)
    /// What is to be told and cancelled, in order.
    private var outbox = ActionLine()

    /// A queue without fetches, suspended.
    package init(_ settings: Settings = Settings()) {
        self.settings = settings
    }

    // MARK: Events

    /// Adds a fetch.
    ///
    /// - Parameters:
    ///   - isSizeable: Whether its size could be asked for: a GET. Asked only while an accurate queue is suspended.
    ///   - dependencies: Fetches that have to end before. When one of them fails, this one fails; see `needsSuccess`. Those
    ///     that ended already are no longer waited for, however they ended.
    ///   - needsSuccess: Whether a dependency that fails makes this one fail too, instead of merely letting it start.
    /// - Returns: Its name in all other events.
    package mutating func add(
        priority: HopPriority = .normal, isSizeable: Bool = false, after dependencies: [FetchID] = [],
        needsSuccess: Bool = true
    ) -> FetchID {
        let index = makeEntry(priority)
        pendingCount += 1
        livingCount += 1
        owesEnd = true
        entries[index].needsSizing = isSizeable && settings.isAccurate && isSuspended
        for dependency in dependencies {
            guard let other = find(dependency), isLiving(other) else { continue }
            addEdge(from: other, to: index, needsSuccess)
        }
        if entries[index].blockers == 0 { becomeReady(index) }
        return name(index)
    }

    /// Lets fetches start. Does no harm to a queue that runs.
    package mutating func start() { isSuspended = false }

    /// Lets no further fetches start; what runs goes on.
    package mutating func suspend() { isSuspended = true }

    /// What makes the fetches is over: whatever starts fails at once. So that each comes to its end none is held back,
    /// with the queue or by itself, nor can be from now on.
    package mutating func engineEnded() {
        isEngineOver = true
        for index in entries.indices where entries[index].isSuspended { resume(name(index)) }
    }

    /// How many may run at a time from now on; what runs goes on.
    package mutating func setWidth(_ width: Int) { settings.width = max(1, width) }

    /// Whether the first failure cancels all others, from now on.
    package mutating func setCancelsOthersOnFailure(_ cancels: Bool) { settings.cancelsOthersOnFailure = cancels }

    /// Whether sizes are asked for, of fetches that are added from now on.
    package mutating func setAccurate(_ isAccurate: Bool) { settings.isAccurate = isAccurate }

    /// The sizing request of a fetch ended. Late and repeated reports are nothing.
    package mutating func sizingEnded(_ fetch: FetchID, _ ending: Ending) {
        guard let index = find(fetch) else { return }
        switch entries[index].state {
        case .sizing:
            leaveTurn(index)
            switch ending {
            case .succeeded:
                entries[index].state = .blocked
                becomeReady(index)
            case .failed: end(index, because: .sizing)
            }
        case .cancellingSizing:
            leaveTurn(index)
            end(index, because: .cancelled)
        case .forgottenSizing:
            leaveTurn(index)
            free(index)
            giveBackPlaces()
        case .blocked, .waitsForSizing, .waits, .running, .parked, .waitsToGoOn, .cancelling, .forgotten, .ending,
            .free:
            return
        }
    }

    /// A fetch ended. Late and repeated reports are nothing.
    package mutating func ended(_ fetch: FetchID, _ ending: Ending) {
        guard let index = find(fetch) else { return }
        switch entries[index].state {
        case .running, .parked, .waitsToGoOn:
            leaveTurn(index)
            switch ending {
            case .succeeded: end(index, because: nil)
            case .failed: end(index, because: .own)
            }
        case .cancelling:
            // What was too late for the cancelling is a success all the same.
            leaveTurn(index)
            switch ending {
            case .succeeded: end(index, because: nil)
            case .failed: end(index, because: .cancelled)
            }
        case .forgotten:
            leaveTurn(index)
            free(index)
            giveBackPlaces()
        case .blocked, .waitsForSizing, .waits, .sizing, .cancellingSizing, .forgottenSizing, .ending, .free: return
        }
    }

    /// Cancels a fetch. One that ended is left alone.
    package mutating func cancel(_ fetch: FetchID) {
        guard let index = find(fetch) else { return }
        cancel(index, isAlone: true)
    }

    /// Cancels a fetch as if it had not been added: that is no reason to cancel others.
    package mutating func withdraw(_ fetch: FetchID) {
        guard let index = find(fetch) else { return }
        cancel(index, isAlone: false)
    }

    /// Cancels all fetches, and sets progress to nothing. Those that wait are told at once, in no certain order; those
    /// that run when they end.
    package mutating func cancelAll() {
        resetProgress()
        for index in entries.indices { cancel(index, isAlone: false) }
    }

    /// Cancels all fetches, tells nothing more of them, and suspends the queue, which can be used again.
    package mutating func reset() {
        outbox.removeAll { action in
            switch action {
            case .cancel, .cancelSizing: false
            case .start, .startSizing, .goOn, .resetProgress, .tellFinished, .tellFailed, .tellQueueFinished: true
            }
        }
        resetProgress()
        for index in entries.indices { forget(index) }
        livingCount = 0
        pendingCount = 0
        owesEnd = false
        isSuspended = true
    }

    /// Whether ``next()`` has something.
    package var hasWork: Bool {
        if !outbox.isEmpty || (owesEnd && pendingCount == 0) { return true }
        return mayStart && ready.contains { $0.first != Link.none }
    }

    private var mayStart: Bool { (!isSuspended || isEngineOver) && runningCount < settings.width }

    /// What the caller does next; nil when there is nothing until another event.
    ///
    /// What is to be told and cancelled comes before what may start.
    package mutating func next() -> Action? {
        if let action = outbox.popFirst() {
            switch action {
            case .tellFinished(let fetch, _):
                pendingCount -= 1
                return .tellFinished(fetch, pending: pendingCount)
            case .tellFailed(let fetch, let reason, _):
                pendingCount -= 1
                return .tellFailed(fetch, reason, pending: pendingCount)
            case .start, .startSizing, .goOn, .cancel, .cancelSizing, .resetProgress, .tellQueueFinished: return action
            }
        }
        giveBackPlaces()
        // Looked at only now: what was just told may have added fetches.
        if owesEnd, pendingCount == 0 {
            owesEnd = false
            return .tellQueueFinished
        }
        guard mayStart, let line = ready.last(where: { $0.first != Link.none }) else { return nil }
        return takeTurn(Int(line.first))
    }

    // MARK: Inside

    private mutating func resetProgress() {
        progressResets &+= 1
        outbox.append(.resetProgress)
    }

    /// Nothing blocks a fetch any more; it waits for its turn, unless it is suspended.
    mutating func becomeReady(_ index: Int) {
        guard !entries[index].isSuspended else { return }
        entries[index].state = entries[index].needsSizing ? .waitsForSizing : .waits
        entries[index].needsSizing = false
        append(index)
    }

    /// - Parameter isAlone: Whether it is a cancelling by itself, which may cancel all others, and not a part of that.
    private mutating func cancel(_ index: Int, isAlone: Bool) {
        let fetch = name(index)
        switch entries[index].state {
        case .blocked: break
        case .waitsForSizing, .waits: remove(index)
        case .sizing:
            entries[index].state = .cancellingSizing
            entries[index].isPartOfCancelling = !isAlone
            return outbox.append(.cancelSizing(fetch))
        case .running, .parked, .waitsToGoOn:
            if entries[index].state == .waitsToGoOn { remove(index) }
            entries[index].state = .cancelling
            entries[index].isPartOfCancelling = !isAlone
            return outbox.append(.cancel(fetch))
        case .cancelling, .cancellingSizing:
            if !isAlone { entries[index].isPartOfCancelling = true }
            return
        case .forgotten, .forgottenSizing, .ending, .free: return
        }
        entries[index].isPartOfCancelling = !isAlone
        end(index, because: .cancelled, withAll: !isAlone)
    }

    private mutating func forget(_ index: Int) {
        let fetch = name(index)
        _ = takeEdges(of: index)
        switch entries[index].state {
        case .blocked: return free(index)
        case .waitsForSizing, .waits: remove(index)
        case .sizing:
            outbox.append(.cancelSizing(fetch))
            entries[index].state = .forgottenSizing
            return
        case .running, .parked, .waitsToGoOn:
            if entries[index].state == .waitsToGoOn { remove(index) }
            outbox.append(.cancel(fetch))
            entries[index].state = .forgotten
            return
        case .cancelling:
            entries[index].state = .forgotten
            return
        case .cancellingSizing:
            entries[index].state = .forgottenSizing
            return
        case .forgotten, .forgottenSizing, .ending, .free: return
        }
        free(index)
    }

    /// A fetch is over: it is told, then those that depended on it go on or end too, then perhaps all others.
    ///
    /// - Parameters:
    ///   - reason: Why it failed; nil when it did not.
    ///   - isWithAll: Whether all fetches are being cancelled, those that depend on this one among them.
    private mutating func end(_ first: Int, because reason: FailureReason?, withAll isWithAll: Bool = false) {
        let isFirstFailure = reason != nil && !entries[first].isPartOfCancelling
        var ends = [(index: first, reason: reason)]
        while let (index, reason) = ends.popLast() {
            let fetch = name(index)
            livingCount -= 1
            if let reason {
                outbox.append(.tellFailed(fetch, reason, pending: 0))
            } else {
                outbox.append(.tellFinished(fetch, pending: 0))
            }
            for link in takeEdges(of: index) {
                let dependent = Int(link.dependent)
                // One that was cancelled, or failed by another of these, is no longer blocked by anything.
                guard entries[dependent].generation == link.generation, entries[dependent].state == .blocked else {
                    continue
                }
                entries[dependent].blockers -= 1
                if reason != nil, link.needsSuccess {
                    entries[dependent].state = .ending
                    ends.append((dependent, isWithAll ? .cancelled : .dependency(fetch)))
                } else if entries[dependent].blockers == 0 {
                    becomeReady(dependent)
                }
            }
            free(index)
        }
        if isFirstFailure, settings.cancelsOthersOnFailure, livingCount > 0 { cancelAll() }
    }
}
