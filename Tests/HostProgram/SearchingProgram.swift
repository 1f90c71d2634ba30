import Glibc
import Trawl

/// Fetches a URL with the worker executable that is found when none is named, and tells what came of it.
///
/// Argument: the URL.
enum SearchingProgram {
    static func run(_ arguments: ArraySlice<String>) async {
        guard let url = arguments.first else { exit(2) }
        var configuration = Configuration()
        configuration.workers = 1
        configuration.store = .none
        do {
            let status = try await withCoordinator(configuration) { try await $0.send(Request(url)).status }
            print("status \(status)")
        } catch {
            print("error \((error as? FetchError)?.detail ?? "\(error)")")
        }
        fflush(nil)
    }
}
