/// Sees to it that of all fetches that need credentials for one protection space, and name the same user or none, only
/// one asks.
///
/// The others wait, and so does their place among the running hops. What the one is told it tries alone: a wrong
/// password tried by a hundred fetches would lock the account. When it works the others take it; when not, the same
/// fetch asks again. One that gives up, or ends for whatever reason, leaves its place to the next.
///
/// - Parameter Subject: What is asked about.
package struct AuthenticationBroker<Subject: Hashable & Sendable, Asker: Hashable & Sendable>: Sendable {
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

    private var questions: [Subject: Question] = [:]
    /// Where each fetch stands: rarely more than one place, and never many.
    private var places: [Asker: Set<Subject>] = [:]

    /// A broker nobody has come to.
    package init() {}

    /// Whether nobody asks, tries or waits.
    package var isIdle: Bool { questions.isEmpty && places.isEmpty }

    /// Whether a fetch asks, tries or waits.
    package func knows(_ asker: Asker) -> Bool { places[asker] != nil }

    /// How many wait for an answer.
    package func waiting(for subject: Subject) -> Int { questions[subject]?.waiting.count ?? 0 }

    /// A fetch has nothing left but to ask.
    ///
    /// One that has the turn already keeps it: what it tried was refused, or it was told to ask.
    package mutating func ask(_ subject: Subject, by asker: Asker) -> Turn {
        // Only the holder is read: a copy of the question would make the next change copy the whole line.
        guard let holder = questions[subject]?.holder else {
            questions[subject] = Question(holder: asker, phase: .asking)
            places[asker, default: []].insert(subject)
            return .ask
        }
        if holder == asker {
            questions[subject]?.phase = .asking
            return .ask
        }
        questions[subject]?.waiting.append(asker)
        places[asker, default: []].insert(subject)
        return .wait
    }

    /// The one that asked was given credentials, and tries them.
    package mutating func told(_ credentials: Credentials, for subject: Subject, to asker: Asker) -> Action {
        guard questions[subject]?.holder == asker else { return .none }
        questions[subject]?.phase = .proving(credentials)
        return .prove(asker, credentials)
    }

    /// The credentials that one tried were refused: nobody else tries them. It keeps its place, and may ask again.
    package mutating func refused(_ subject: Subject, by asker: Asker) {
        guard questions[subject]?.holder == asker else { return }
        questions[subject]?.phase = .asking
    }

    /// The credentials that one tried worked.
    package mutating func proved(_ subject: Subject, by asker: Asker) -> Action {
        guard questions[subject]?.holder == asker, case .proving(let credentials)? = questions[subject]?.phase
        else { return .none }
        let askers = settle(subject)
        return askers.isEmpty ? .none : .resume(askers, credentials)
    }

    /// Whoever was asked wants no more questions: the fetch that asked fails, and with it those that wait, when one
    /// fetch's end is to be all fetches' end.
    package mutating func cancelled(_ subject: Subject, by asker: Asker, all: Bool) -> Action {
        guard questions[subject]?.holder == asker else { return .none }
        guard all else { return left(subject, by: asker) }
        let askers = settle(subject)
        return askers.isEmpty ? .none : .fail(askers)
    }

    /// A fetch needs no answer about a subject any more: it had no answer, gave up, or found credentials elsewhere.
    package mutating func left(_ subject: Subject, by asker: Asker) -> Action {
        forget(asker, subject)
        guard let holder = questions[subject]?.holder, let phase = questions[subject]?.phase else { return .none }
        guard holder == asker else {
            questions[subject]?.waiting.remove(asker)
            return .none
        }
        guard let next = questions[subject]?.waiting.popFirst() else {
            questions[subject] = nil
            return .none
        }
        questions[subject]?.holder = next
        switch phase {
        case .asking: return .ask(next)
        // It ended before anybody knew whether they are right.
        case .proving(let credentials): return .prove(next, credentials)
        }
    }

    /// A fetch has ended, however it did; legal at any time and for fetches that never were here.
    ///
    /// - Returns: What others are to do, with the subject it is about.
    package mutating func ended(_ asker: Asker) -> [(subject: Subject, action: Action)] {
        left(by: asker) { _ in true }
    }

    /// A fetch needs no answer about some subjects any more; legal at any time, as its end is.
    ///
    /// - Returns: What others are to do, with the subject it is about.
    package mutating func left(
        by asker: Asker, where isLeft: (Subject) -> Bool
    ) -> [(subject: Subject, action: Action)] {
        guard let subjects = places[asker] else { return [] }
        return subjects.filter(isLeft).map { ($0, left($0, by: asker)) }.filter { $0.1 != .none }
    }

    /// A question is over, whatever came of it.
    ///
    /// - Returns: Who waited, in the order in which they came.
    private mutating func settle(_ subject: Subject) -> [Asker] {
        guard var question = questions.removeValue(forKey: subject) else { return [] }
        forget(question.holder, subject)
        var askers: [Asker] = []
        while let next = question.waiting.popFirst() {
            forget(next, subject)
            askers.append(next)
        }
        return askers
    }

    private mutating func forget(_ asker: Asker, _ subject: Subject) {
        places[asker]?.remove(subject)
        if places[asker]?.isEmpty == true { places[asker] = nil }
    }
}
