import TrawlPlatform

extension FetchQueue {
    /// Something that happened in a queue. Sizing requests are never among it.
    public enum Event: Sendable {
        /// The turn of a fetch has come.
        case started(FetchID)
        /// A redirect of it is being followed.
        case willRedirect(FetchID, Response.RedirectHop)
        /// The head of the response that will be its answer.
        case head(FetchID, Response.ResponseHead)
        /// It ended with a response, whatever its status.
        case finished(FetchID, Response)
        /// It ended without; also one that never started.
        case failed(FetchID, FetchError)
        /// All fetches have been told, once after the last. Comes again when more are added after that.
        case queueFinished
    }

    /// Bytes of a fetch moved, or were taken back, or there are more or fewer than was thought.
    public struct ByteStep: Sendable, Hashable {
        /// Which way bytes go.
        public enum Direction: Sendable, Hashable {
            /// The body of a response.
            case download
            /// The body of a request.
            case upload
        }

        /// The fetch.
        public let fetch: FetchID
        /// Which way.
        public let direction: Direction
        /// Bytes moved; negative when they are taken back, as when a body has to be sent again.
        public let moved: Int64
        /// Bytes there are to move; may be negative too.
        public let size: Int64
    }

    /// What happens from now on, in order. Each sequence asked for gets all of it, and keeps it until it is read; one
    /// that nobody asks for costs nothing. Ends with ``reset()``, and when the queue is no more.
    public var events: AsyncStream<Event> {
        let (stream, continuation) = AsyncStream.makeStream(of: Event.self)
        let number = state.withLock { $0.readers.add(continuation) }
        continuation.onTermination = { [weak self] _ in self?.removeReader(number) }
        return stream
    }

    /// Steps of bytes from now on, at most four a second for each fetch and direction, and one at each turn of its
    /// life.
    ///
    /// - Source: ASIHTTPRequest's `didReceiveBytes`, `incrementDownloadSizeBy` and their like (ASI-PROG-06).
    public var byteSteps: AsyncStream<ByteStep> {
        let (stream, continuation) = AsyncStream.makeStream(of: ByteStep.self)
        let number = state.withLock { $0.readers.add(continuation) }
        continuation.onTermination = { [weak self] _ in self?.removeReader(number) }
        return stream
    }

    /// How far all fetches together have come: at most four values a second, and one each time the queue is finished.
    /// Who is slow gets the latest. Ends with ``reset()``, and when the queue is no more.
    public var progress: AsyncStream<TransferProgress> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: TransferProgress.self, bufferingPolicy: .bufferingNewest(1))
        let number = state.withLock { $0.readers.add(continuation) }
        continuation.onTermination = { [weak self] _ in self?.removeReader(number) }
        return stream
    }

    /// What is known now.
    public var currentProgress: TransferProgress { state.withLock { $0.progress() } }

    /// Tells those who follow what has happened since, in order, by one thread at a time and outside of the lock. To be
    /// called after each change beneath it that may tell something.
    func tellReaders() {
        guard state.withLock({ $0.readers.beginTelling() }) else { return }
        while let news = state.withLock({ $0.readers.takeNews() }) {
            for item in news { item.tell() }
        }
    }

    private func removeReader(_ number: UInt64) {
        // Let go of outside of the lock.
        let reader = state.withLock { $0.readers.remove(number) }
        withExtendedLifetime(reader) {}
    }
}
