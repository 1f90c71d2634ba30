import TrawlPlatform

extension Coordinator {
    /// No line counts for more, in bytes: what workers write there is no proof.
    private static let mostInFlight: UInt64 = 1 << 46

    /// Bytes of bodies that are being received at present, after decoding; those of fetches that are over do not count.
    ///
    /// Read from shared memory, a line for each transfer that may be in flight; on any thread.
    package var bytesInFlight: UInt64 {
        var sum: UInt64 = 0
        for worker in 0..<segment.workers {
            for transfer in 0..<segment.transfersPerWorker {
                let line = segment.progress(worker: worker, transfer: transfer)
                guard let words = line.snapshot(), words.lease != 0, !words.isOver else { continue }
                // At most 65,536 lines: no overflow.
                sum += min(words.decoded, Self.mostInFlight)
            }
        }
        return sum
    }
}
