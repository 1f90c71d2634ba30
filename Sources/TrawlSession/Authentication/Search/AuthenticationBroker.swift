/// Sees to it that of all fetches that need credentials for one protection space only one asks.
///
/// The others wait, and so does their place among the running hops. What the one is told it tries alone: a wrong password
/// tried by a hundred fetches would lock the account. When it works the others take it; when not, the same fetch asks
/// again. One that gives up, or ends for whatever reason, leaves its place to the next.
package struct AuthenticationBroker<Asker: Hashable & Sendable>: Sendable {
    /// What a fetch that needs credentials is to do.
    package enum Turn: Equatable, Sendable {
        /// Ask: nobody else does.
        case ask
        /// Wait until told.
        case wait
    }

    /// What others are to do after an event. Each fetch is named once.
    package enum Action: Equatable, Sendable {
        /// This one asks now.
        case ask(Asker)
        /// This one tries these credentials, which are not proved yet, and nobody else does.
        case prove(Asker, Credentials)
        /// These take the credentials, in the order in which they came.
        case resume([Asker], Credentials)
        /// These fail without being asked.
        case fail([Asker])
        /// Nothing.
        case none
    }

    private enum Phase {
        case asking
        case proving(Credentials)
    }

    private struct Question {
        /// Who asks, or tries what was said.
        var holder: Asker
        var phase: Phase
        var waiting = WaitingLine<Asker>()
    }

    private var questions: [ProtectionSpace: Question] = [:]
    /// Where each fetch stands: rarely more than one place, and never many.
    private var places: [Asker: Set<ProtectionSpace>] = [:]

    /// A broker nobody has come to.
    package init() {}

    /// Whether nobody asks, tries or waits.
    package var isIdle: Bool { questions.isEmpty && places.isEmpty }

    /// How many wait for a space.
    package func waiting(for space: ProtectionSpace) -> Int { questions[space]?.waiting.count ?? 0 }

    /// A fetch has nothing left but to ask.
    ///
    /// One that has the turn already keeps it: what it tried was refused, or it was told to ask.
    package mutating func ask(_ space: ProtectionSpace, by asker: Asker) -> Turn {
        // Only the holder is read: a copy of the question would make the next change copy the whole line.
        guard let holder = questions[space]?.holder else {
            questions[space] = Question(holder: asker, phase: .asking)
            places[asker, default: []].insert(space)
            return .ask
        }
        if holder == asker {
            questions[space]?.phase = .asking
            return .ask
        }
        questions[space]?.waiting.append(asker)
        places[asker, default: []].insert(space)
        return .wait
    }

    /// The one that asked was given credentials, and tries them.
    package mutating func told(_ credentials: Credentials, for space: ProtectionSpace, to asker: Asker) -> Action {
        guard questions[space]?.holder == asker else { return .none }
        questions[space]?.phase = .proving(credentials)
        return .prove(asker, credentials)
    }

    /// The credentials that one tried worked.
    package mutating func proved(_ space: ProtectionSpace, by asker: Asker) -> Action {
        guard var question = questions[space], question.holder == asker, case .proving(let credentials) = question.phase
        else { return .none }
        questions[space] = nil
        forget(asker, space)
        var askers: [Asker] = []
        while let next = question.waiting.popFirst() {
            forget(next, space)
            askers.append(next)
        }
        return askers.isEmpty ? .none : .resume(askers, credentials)
    }

    /// Whoever was asked wants no more questions: the fetch that asked fails, and with it those that wait, when one
    /// fetch's end is to be all fetches' end.
    package mutating func cancelled(_ space: ProtectionSpace, by asker: Asker, all: Bool) -> Action {
        guard var question = questions[space], question.holder == asker else { return .none }
        guard all else { return left(space, by: asker) }
        questions[space] = nil
        forget(asker, space)
        var askers: [Asker] = []
        while let next = question.waiting.popFirst() {
            forget(next, space)
            askers.append(next)
        }
        return askers.isEmpty ? .none : .fail(askers)
    }

    /// A fetch needs nothing of a space any more: it had no answer, gave up, or found credentials elsewhere.
    package mutating func left(_ space: ProtectionSpace, by asker: Asker) -> Action {
        forget(asker, space)
        guard let holder = questions[space]?.holder, let phase = questions[space]?.phase else { return .none }
        guard holder == asker else {
            questions[space]?.waiting.remove(asker)
            return .none
        }
        guard let next = questions[space]?.waiting.popFirst() else {
            questions[space] = nil
            return .none
        }
        questions[space]?.holder = next
        switch phase {
        case .asking: return .ask(next)
        // It ended before anybody knew whether they are right.
        case .proving(let credentials): return .prove(next, credentials)
        }
    }

    /// A fetch has ended, however it did; legal at any time and for fetches that never were here.
    ///
    /// - Returns: What others are to do, with the space it is about.
    package mutating func ended(_ asker: Asker) -> [(space: ProtectionSpace, action: Action)] {
        guard let spaces = places[asker] else { return [] }
        return spaces.map { ($0, left($0, by: asker)) }.filter { $0.1 != .none }
    }

    private mutating func forget(_ asker: Asker, _ space: ProtectionSpace) {
        places[asker]?.remove(space)
        if places[asker]?.isEmpty == true { places[asker] = nil }
    }
}
