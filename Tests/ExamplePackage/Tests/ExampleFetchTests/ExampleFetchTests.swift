import Testing
import Trawl

@testable import ExampleFetch

@Suite("The example")
struct ExampleFetchTests {
    @Test("a port where nobody listens cannot be connected to")
    func refused() async throws {
        // Port 1 (tcpmux) is below the range that programs are given.
        #expect(try await ExampleFetch.summary(of: "http://127.0.0.1:1/") == "connect")
    }

    @Test("a queue goes on after failures")
    func queue() async throws {
        #expect(try await ExampleFetch.statuses(of: ["http://127.0.0.1:1/", "http://"]) == [0, 0])
    }

    @Test("a text that is no URL is told so")
    func noURL() async throws {
        #expect(try await ExampleFetch.summary(of: "http://") == FetchError.Code.invalidURL.rawValue)
    }
}
