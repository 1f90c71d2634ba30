import TrawlHTTP

/// Asks a program for a decision about a fetch.
enum ProgramAnswer {
    /// What the program says, or what the fetch fails with: it threw, said nothing in time, or the asking task was
    /// cancelled.
    ///
    /// - Parameters:
    ///   - subject: What it is asked about, as a person is told.
    ///   - url: Of the hop.
    ///   - limit: How long it may take; nil waits for as long as it takes.
    static func about<Value: Sendable>(
        _ subject: String, _ url: String?, within limit: Duration?,
        _ question: @escaping @Sendable () async throws -> Value
    ) async -> Result<Value, FetchError> {
        let answer: @Sendable () async -> Result<Value, FetchError> = {
            do {
                return .success(try await question())
            } catch {
                return .failure(FetchError(.hookFailed, "the decision about \(subject) threw: \(error)", url: url))
            }
        }
        if let answer = await FirstAnswer.within(limit, answer) { return answer }
        // The asking task is the caller's own where a fetch goes through a program's cache.
        guard let limit, !Task.isCancelled else { return .failure(FetchError(.cancelled, "", url: url)) }
        // One of more seconds than 64 bits hold has no description.
        let shown = Duration.nanoseconds(limit.clampedNanoseconds)
        return .failure(FetchError(.timeout, "no decision about \(subject) within \(shown)", url: url))
    }
}
