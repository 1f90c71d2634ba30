/// What a run of several URLs came to, for its exit status.
struct RunTally: Equatable {
    var succeeded = 0
    var failed = 0
    /// Requests an earlier run has brought to an end, and how many of them failed.
    var skipped = 0
    var failedBefore = 0
    var bytes: UInt64 = 0
    var cache = CacheTally()
    var engineIsDown = false
    /// No space, a quota or a broken disk: more files would meet the same.
    var outputIsBroken = false
    /// Who reads what the run is for, results or bodies, has closed that: it has all it wanted.
    var outputIsClosed = false
    /// Who reads what `-w` prints beside that has closed it.
    var printsAreClosed = false
    /// Somebody made it stop, and something is left for the next run.
    var wasStopped = false

    /// Whether something came that no request can be brought to an end with.
    var isBrokenOff: Bool { engineIsDown || outputIsBroken || outputIsClosed || printsAreClosed }

    var status: Int32 {
        if outputIsClosed { return ExitStatus.success }
        if wasStopped { return ExitStatus.stopped }
        if engineIsDown { return ExitStatus.engineDown }
        if outputIsBroken { return ExitStatus.outputError }
        return failed + failedBefore > 0 ? ExitStatus.someFailed : ExitStatus.success
    }

    /// One line about the run for a person.
    ///
    /// - Parameters:
    ///   - elapsed: How long it took.
    ///   - isCaching: Whether a cache took part.
    func summary(after elapsed: Duration, isCaching: Bool) -> String {
        var parts = ["\(succeeded) fetched"]
        if failed > 0 { parts.append("\(failed) failed") }
        if skipped > 0 {
            parts.append("\(skipped) done before" + (failedBefore > 0 ? " (\(failedBefore) failed)" : ""))
        }
        parts.append("\(ByteText.short(bytes)) in \(ProgressLine.time((elapsed / .seconds(1)).rounded()))")
        if wasStopped { parts.append("stopped") }
        return parts.joined(separator: ", ") + (isCaching ? "; cache: \(cache.text)" : "")
    }
}
