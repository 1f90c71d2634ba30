import Trawl

/// Fetches URLs into a folder that is there, eight at a time, and says how far it has come:
///
///     FetchList FOLDER URL...
///
/// What was fetched by an earlier run, or by `trawl`, answers whatever its age; a server is asked for the rest alone.
@main
struct FetchList {
    static func main() async throws {
        let arguments = Array(CommandLine.arguments.dropFirst())
        guard let folder = arguments.first, arguments.count > 1 else {
            print("usage: FetchList FOLDER URL...")
            return
        }
        let urls = Array(arguments.dropFirst())
        let results = try await fetch(urls, into: folder)
        for (url, result) in zip(urls, results) {
            switch result {
            case .success(let response): print(url, response.status, response.isFromCache ? "stored" : "fetched")
            case .failure(let error): print(url, error.code.rawValue)
            }
        }
    }

    /// What became of each URL, in their order. The files have their numbers for names.
    static func fetch(_ urls: [String], into folder: String) async throws -> [Result<Response, FetchError>] {
        let requests = urls.map { url -> Request in
            var request = Request(url)
            request.cachePolicy = .returnCacheDataElseLoad
            // Otherwise what goes into files is not stored beside.
            request.options.caching.storesDownloads = true
            return request
        }
        return try await withCoordinator { coordinator in
            await coordinator.batch(requests, into: { .file("\(folder)/\($0 + 1)") }, width: 8) { ended, total in
                print("\(ended) of \(total)")
            }
        }
    }
}
