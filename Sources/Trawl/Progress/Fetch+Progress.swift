extension Fetch {
    /// How far the fetch has come: at most four values a second while it runs, and a last one when it is over.
    ///
    /// The values are read from memory that workers share, so that they cost nothing between two looks. Who is slow
    /// gets the latest. May be asked for any number of times; each sequence has one reader.
    public var progress: AsyncStream<TransferProgress> { progress(every: .milliseconds(250)) }

    /// As ``progress``, with a longer time between two values.
    ///
    /// - Parameter interval: At least a quarter of a second.
    public func progress(every interval: Duration) -> AsyncStream<TransferProgress> {
        meter.values(every: interval)
    }

    /// What is known now.
    public var currentProgress: TransferProgress { meter.current }
}
