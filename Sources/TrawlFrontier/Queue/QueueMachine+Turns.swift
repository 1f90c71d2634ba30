/// Turns and places of a queue's fetches, and those that give theirs to others for as long as they are suspended.
extension QueueMachine {
    /// Lets a fetch rest until it is resumed. One that waits does not start; one that was started gives its place in
    /// the width to others. What asks for its size goes on.
    ///
    /// - Returns: Whether it was started, and may go on only after ``Action/goOn(_:)``.
    package mutating func suspend(_ fetch: FetchID) -> Bool {
        guard !isEngineOver, let index = find(fetch), isLiving(index) else { return false }
        entries[index].isSuspended = true
        switch entries[index].state {
        case .waits:
            remove(index)
            entries[index].state = .blocked
        case .waitsForSizing:
            remove(index)
            entries[index].state = .blocked
            entries[index].needsSizing = true
        case .running, .waitsToGoOn:
            leaveTurn(index)
            entries[index].state = .parked
            return true
        case .parked: return true
        case .blocked, .sizing, .cancellingSizing, .forgottenSizing, .cancelling, .forgotten, .ending, .free: break
        }
        return false
    }

    /// Lets a fetch wait for its turn again: behind those of its priority when it never started, else before them.
    package mutating func resume(_ fetch: FetchID) {
        guard let index = find(fetch), entries[index].isSuspended else { return }
        entries[index].isSuspended = false
        switch entries[index].state {
        case .blocked: if entries[index].blockers == 0 { becomeReady(index) }
        case .parked:
            entries[index].state = .waitsToGoOn
            append(index)
        case .waits, .waitsForSizing, .sizing, .cancellingSizing, .forgottenSizing, .running, .waitsToGoOn, .cancelling,
            .forgotten, .ending, .free:
            break
        }
    }

    /// A fetch that waits gets a place.
    mutating func takeTurn(_ index: Int) -> Action {
        remove(index)
        entries[index].hasPlace = true
        runningCount += 1
        let (fetch, state) = (name(index), entries[index].state)
        entries[index].state = state == .waitsForSizing ? .sizing : .running
        return state == .waitsForSizing ? .startSizing(fetch) : state == .waitsToGoOn ? .goOn(fetch) : .start(fetch)
    }

    /// A fetch, or its sizing request, needs no place, nor waits for one.
    mutating func leaveTurn(_ index: Int) {
        if entries[index].state == .waitsToGoOn { remove(index) }
        guard entries[index].hasPlace else { return }
        entries[index].hasPlace = false
        runningCount -= 1
    }
}
