public import Foundation
public import Trawl

extension Fetch {
    /// A Foundation `Progress` that follows the response's body: bytes of the wire. Cancelling it cancels the fetch.
    ///
    /// `totalUnitCount` is -1 while the size is unknown. After a good end `fractionCompleted` is 1.
    public func foundationProgress() -> Progress {
        FollowedProgress.follow(progress) { [weak self] in self?.cancel() }
    }
}

extension FetchQueue {
    /// A Foundation `Progress` that follows the queue until it is reset or let go of. Cancelling it cancels all
    /// fetches.
    public func foundationProgress() -> Progress {
        FollowedProgress.follow(progress) { [weak self] in self?.cancelAll() }
    }
}

/// A `Progress` that a task keeps up to date.
///
/// `@unchecked Sendable`: the counts of a `Progress` may be set from any thread, and nothing else of it is touched once
/// it is made.
private struct FollowedProgress: @unchecked Sendable {
    private let progress: Progress

    static func follow(
        _ values: AsyncStream<TransferProgress>, cancel: @escaping @Sendable () -> Void
    ) -> Progress {
        let progress = Progress(totalUnitCount: -1)
        progress.cancellationHandler = cancel
        let followed = FollowedProgress(progress: progress)
        Task { for await value in values { followed.set(value) } }
        return progress
    }

    private func set(_ value: TransferProgress) {
        // A body without bytes is done all the same, which a total of 0 does not say.
        let isEmpty = value.isComplete && value.download.fraction == 1 && value.download.total <= 0
        progress.totalUnitCount = isEmpty ? 1 : value.download.total
        progress.completedUnitCount = isEmpty ? 1 : value.download.completed
    }
}
