package import TrawlPlatform

/// Answers of many fetches, gathered for one thread that takes them in groups.
///
/// A task or a blocked thread for each fetch costs a wake-up each; a queue costs one for all answers of a turn of the
/// supervisor. It is what `trawl pipe` waits on.
package final class AnswerQueue: Sendable {
    private let waiting = Guarded([FetchAnswer]())
    private let wakeUp: WakeUp

    /// A queue without answers.
    package init() throws(SystemError) {
        wakeUp = try WakeUp()
    }

    /// Readable when answers wait; to be polled beside other descriptors. Level-triggered until ``take(into:)``.
    package var rawValue: Int32 { wakeUp.rawValue }

    /// Takes all answers that wait. The array given becomes the next one to be filled, so that its memory is used
    /// again.
    package func take(into answers: inout [FetchAnswer]) {
        // Drained first: what comes after that wakes again.
        wakeUp.drain()
        answers.removeAll(keepingCapacity: true)
        waiting.withLock { swap(&$0, &answers) }
    }

    /// Wakes whoever waits, without an answer.
    package func wake() {
        wakeUp.signal()
    }

    /// Adds answers, and wakes whoever waits.
    func post(_ answers: [FetchAnswer]) {
        let wasEmpty = waiting.withLock { waiting in
            defer { waiting.append(contentsOf: answers) }
            return waiting.isEmpty
        }
        if wasEmpty { wakeUp.signal() }
    }
}

/// The supervisor's part: answers of one turn, posted together at its end.
///
/// Bound to the supervisor thread.
struct GatheredAnswers {
    private var queue: AnswerQueue?
    private var answers: [FetchAnswer] = []

    /// Keeps an answer until `post()`.
    mutating func add(_ answer: FetchAnswer, for queue: AnswerQueue) {
        if self.queue !== queue {
            post()
            self.queue = queue
        }
        answers.append(answer)
    }

    /// Hands over what was gathered.
    mutating func post() {
        guard !answers.isEmpty, let queue else { return }
        queue.post(answers)
        answers.removeAll(keepingCapacity: true)
    }
}
