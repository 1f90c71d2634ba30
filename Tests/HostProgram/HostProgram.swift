import Glibc
import Trawl

/// A program that downloads until somebody kills it, for the test of what remains then; or one that watches the
/// network, uses the default coordinator, or looks for its worker executable.
///
/// Arguments: `network` and what `NetworkProgram` takes, `sharing` and what `SharingProgram` takes, `searching` and
/// what `SearchingProgram` takes, or the worker
/// executable, a directory in which workers create files, another one, and URLs. Each URL is fetched into a file of
/// either directory. When bytes of every body have come, it prints a line. It ends by itself after five minutes.
@main
enum HostProgram {
    static func main() async throws {
        alarm(300)
        let arguments = CommandLine.arguments
        if arguments.dropFirst().first == "network" { return await NetworkProgram.run(arguments.dropFirst(2)) }
        if arguments.dropFirst().first == "sharing" { return try await SharingProgram.run(arguments.dropFirst(2)) }
        if arguments.dropFirst().first == "searching" { return await SearchingProgram.run(arguments.dropFirst(2)) }
        guard arguments.count > 4 else { exit(2) }
        var configuration = Configuration()
        configuration.workerExecutable = arguments[1]
        configuration.outputDirectories = [arguments[2]]
        configuration.workers = 3
        configuration.connectionsPerHost = 0
        configuration.store = .none
        configuration.tolerance.startDeadline = .seconds(60)
        try await withCoordinator(configuration) { coordinator in
            var fetches: [Fetch] = []
            for (index, url) in arguments[4...].enumerated() {
                for directory in arguments[2...3] {
                    fetches.append(coordinator.start(Request(url), into: .file("\(directory)/\(index)")))
                }
            }
            for fetch in fetches { await waitForBytes(fetch) }
            print("transferring")
            fflush(nil)
            for fetch in fetches { _ = try await fetch.response }
        }
    }

    private static func waitForBytes(_ fetch: Fetch) async {
        for await event in fetch.events {
            if case .progress(let progress) = event, progress.received > 0 { return }
        }
    }
}
