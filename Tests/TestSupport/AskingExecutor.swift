import Dispatch
import Synchronization

/// Runs the jobs of a test's tasks on threads of their own, each after another thread has asked something meanwhile.
///
/// Whoever resumes such a task while it holds a lock that the answer takes leaves a question unanswered.
package final class AskingExecutor: TaskExecutor {
    private let question: @Sendable () -> Void
    private let unanswered = Atomic(0)
    private let running = Atomic(0)

    /// One that asks by calling `question`.
    package init(asking question: @escaping @Sendable () -> Void) { self.question = question }

    /// How many questions were not answered while a job was handed over.
    package var unansweredCount: Int { unanswered.load(ordering: .acquiring) }

    /// Whether all tasks that were begun on it wait for something, or are over.
    package var isIdle: Bool { running.load(ordering: .acquiring) == 0 }

    /// Called by whoever resumes a task.
    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        running.wrappingAdd(1, ordering: .acquiringAndReleasing)
        let (question, isAnswered) = (question, DispatchSemaphore(value: 0))
        // A queue of its own has a thread of its own.
        DispatchQueue(label: "asking").async {
            question()
            isAnswered.signal()
        }
        if isAnswered.wait(timeout: .now() + 60) == .timedOut { unanswered.wrappingAdd(1, ordering: .releasing) }
        DispatchQueue(label: "running").async {
            job.runSynchronously(on: self.asUnownedTaskExecutor())
            self.running.wrappingSubtract(1, ordering: .acquiringAndReleasing)
        }
    }
}
