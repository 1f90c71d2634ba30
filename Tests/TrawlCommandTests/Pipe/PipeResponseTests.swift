import Testing
import Trawl

@testable import TrawlCommand

@Suite("Answers of a pipe")
struct PipeResponseTests {
    @Test("what waits counts with its URL and its id, with a response or without")
    func load() {
        let url = String(repeating: "u", count: 100_000)
        let id = RequestID(json: [UInt8](repeating: 0x31, count: 50_000))
        let bad = PipeResponse(id, url: url, badRequest: "no")
        let failed = PipeResponse(id, url: url, .failure(FetchError(.invalidURL, "no")), mayHaveBeenSent: false)
        let elsewhere = PipeResponse(
            nil, url: url, .failure(FetchError(.timeout, "no", url: "http://h/")), mayHaveBeenSent: true)
        #expect(bad.load > 150_000 && failed.load > 150_000 && elsewhere.load < 10_000)
    }
}
