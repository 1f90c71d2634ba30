import Testing

/// Waits until requests have come, and come no more.
///
/// - Returns: How many have come by then.
@discardableResult
func expectStandstill(
    _ origin: LoopbackOriginProcess, sourceLocation: SourceLocation = #_sourceLocation
) async throws -> Int {
    var before = -1
    let stands = await eventually {
        let now = (try? origin.concurrency().total) ?? 0
        defer { before = now }
        try? await Task.sleep(for: .milliseconds(500))
        return now > 0 && now == before
    }
    #expect(stands, sourceLocation: sourceLocation)
    return before
}
