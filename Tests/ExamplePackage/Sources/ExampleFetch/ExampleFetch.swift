import Trawl

/// Fetches the URL given and prints status and length.
@main
struct ExampleFetch {
    static func main() async throws {
        guard CommandLine.arguments.count == 2 else {
            print("usage: ExampleFetch URL")
            return
        }
        print(try await summary(of: CommandLine.arguments[1]))
    }

    /// Status and length of what a URL leads to, or why there is none.
    static func summary(of url: String) async throws -> String {
        try await withCoordinator { coordinator in
            do {
                let response = try await coordinator.send(Request(url))
                return "\(response.status) \(response.body.count)"
            } catch let error as FetchError {
                return error.code.rawValue
            }
        }
    }
}
