extension Fetch: Identifiable {
    /// Unique among the fetches of a coordinator; never used again.
    public var id: UInt64 { control.id }

    /// Where a fetch is in its life, as far as its caller has a say in it.
    ///
    /// - Source: `NSURLSessionTask.State` (ULS-TASK-06).
    public enum State: String, Sendable, Hashable, Codable, CaseIterable {
        /// It waits for its turn, or is on its way.
        case running
        /// It goes on when it is resumed.
        case suspended
        /// It was told to end, and has not yet.
        case cancelling
        /// It is over: ``Fetch/response`` is there, or the reason why there is none.
        case completed
    }

    /// Where it is in its life now.
    public var state: State {
        // Who reads the last event knows before the answer is there.
        if channel.isOver || outcome.answer != nil { return .completed }
        return control.isCancelled ? .cancelling : control.isSuspended ? .suspended : .running
    }

    /// Lets nothing more happen to the fetch until it is resumed: it starts nothing, reads nothing, and no limit of
    /// time runs.
    ///
    /// One that waits for its turn takes no place, and one of a queue gives its place there to others. One that is on
    /// its way keeps its connection for ``Configuration/suspendedConnectionLifetime`` and gives it up then; resumed, it
    /// asks for the rest where the server supports that (`docs/resuming.md`). What has been told already is still told.
    /// An end that is under way comes.
    ///
    /// Suspensions nest: a fetch goes on when it was resumed as often as it was suspended. One whose handle is let go
    /// of while it is suspended is cancelled, for nobody could resume it.
    public func suspend() {
        if control.suspend() { controlChanged() }
    }

    /// Takes one ``suspend()`` back. Does no harm to a fetch that is not suspended. One of a queue waits for its turn
    /// there again, before those of its priority that never ran.
    public func resume() {
        if control.resume() { controlChanged() }
    }

    /// How urgent it is among those that wait for the same host, from 0 to 1, in five levels; 0.5 is the middle. Of one
    /// that is on its way it changes nothing until its next hop. One of a queue has the priority it was added with; a
    /// change does not alter its turn in the queue. Where it waits for another one of the same request, that is as
    /// urgent.
    public var priority: Double {
        get { control.priority }
        set {
            control.priority = newValue
            controlChanged()
        }
    }

    private func controlChanged() {
        switch maker {
        case .nobody: break
        case .coordinator(let coordinator, let running): coordinator.post(.controlChanged(running))
        case .queue(let queue, let id): queue.controlChanged(id)
        }
    }
}
