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

    /// The statuses of what URLs lead to, fetched by a queue; 0 where there is none.
    static func statuses(of urls: [String]) async throws -> [Int] {
        try await withCoordinator { coordinator in
            var settings = FetchQueue.Settings()
            settings.cancelsOthersOnFailure = false
            let queue = FetchQueue(on: coordinator, settings)
            let fetches = urls.map { queue.add(Request($0), into: .discard) }
            queue.start()
            var statuses: [Int] = []
            for fetch in fetches { statuses.append((try? await fetch.response.status) ?? 0) }
            return statuses
        }
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
