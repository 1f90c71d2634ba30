// TrawlFoundation: what programs that use Foundation anyway want of it: `Progress` and `URL`. Nothing of it is needed
// to fetch, and the other targets of the library must never import Foundation for it.

public import Foundation
public import Trawl

extension TransferProgress {
    /// Which bodies a Foundation `Progress` follows.
    public enum Bodies: Sendable, Hashable {
        /// Those of responses.
        case download
        /// Those of requests.
        case upload
    }

    fileprivate func direction(of bodies: Bodies) -> Direction {
        switch bodies {
        case .download: download
        case .upload: upload
        }
    }
}

extension Fetch {
    /// A Foundation `Progress` that follows the response's body, or the request's: bytes of the wire. Cancelling it
    /// cancels the fetch, also when the handle was let go of. It does not hold the handle.
    ///
    /// `totalUnitCount` is -1 while the size is unknown. After a good end `fractionCompleted` is 1. What is sent goes
    /// back when the body has to be sent again.
    public func foundationProgress(of bodies: TransferProgress.Bodies = .download) -> Progress {
        FollowedProgress.follow(bodies, progress, cancel: cancellation)
    }
}

extension FetchQueue {
    /// A Foundation `Progress` that follows the queue until it is reset or let go of: its responses, or the bodies of
    /// its requests. Cancelling it cancels all fetches.
    public func foundationProgress(of bodies: TransferProgress.Bodies = .download) -> Progress {
        FollowedProgress.follow(bodies, progress) { [weak self] in self?.cancelAll() }
    }
}

/// A `Progress` that a task keeps up to date.
///
/// `@unchecked Sendable`: the counts of a `Progress` may be set from any thread, and nothing else of it is touched once
/// it is made.
private struct FollowedProgress: @unchecked Sendable {
    private let progress: Progress

    static func follow(
        _ bodies: TransferProgress.Bodies, _ values: AsyncStream<TransferProgress>,
        cancel: @escaping @Sendable () -> Void
    ) -> Progress {
        let progress = Progress(totalUnitCount: -1)
        progress.cancellationHandler = cancel
        let followed = FollowedProgress(progress: progress)
        Task { for await value in values { followed.set(value.direction(of: bodies), isComplete: value.isComplete) } }
        return progress
    }

    private func set(_ value: TransferProgress.Direction, isComplete: Bool) {
        // A body without bytes is done all the same, which a total of 0 does not say.
        let isEmpty = isComplete && value.fraction == 1 && value.total <= 0
        progress.totalUnitCount = isEmpty ? 1 : value.total
        progress.completedUnitCount = isEmpty ? 1 : value.completed
    }
}
