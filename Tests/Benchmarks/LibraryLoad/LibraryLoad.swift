import Glibc
import Synchronization
import Trawl

/// Fetches many URLs through the library and prints what it cost: the benchmark's stand-in for a host program.
///
///     LibraryLoad LIST CALLERS WORKERS discard|memory|many [--store DIR]
///     LibraryLoad LIST CALLERS WORKERS files FOLDER [--store DIR]
///     LibraryLoad LIST CALLERS WORKERS hits COUNT --store DIR
///     LibraryLoad LIST CALLERS WORKERS queue [--store DIR]
///     LibraryLoad hosts COUNT DELAY
///
/// LIST has one URL a line; with `files` each body goes to FOLDER/NNN/N. CALLERS tasks fetch one after the other; with
/// `many` one thread keeps as many in flight through an answer queue, as the batch commands do, bodies dropped. `queue`
/// adds all to a `FetchQueue` of that width, and says what each took while it waited. `hits` reads random ones of a
/// store that holds them all. Responses are cached in DIR, or not at all. Output is one JSON line: seconds of wall
/// time, CPU microseconds per request of this process and of the workers, peak memory. `hosts` fetches nothing:
/// ``HostTurns``.
@main
struct LibraryLoad {
    static func main() async throws {
        try await run()
    }

    private final class Counters: Sendable {
        let next = Atomic<Int>(0)
        let failures = Atomic<Int>(0)
    }

    @concurrent
    private static func run() async throws {
        var arguments = CommandLine.arguments
        var store: String?
        if let option = arguments.firstIndex(of: "--store"), option + 1 < arguments.count {
            store = arguments[option + 1]
            arguments.removeSubrange(option...option + 1)
        }
        if arguments.count == 4, arguments[1] == "hosts", let hosts = Int(arguments[2]), hosts > 0,
            let delay = Int(arguments[3]), delay >= 0
        {
            print(HostTurns(hosts: hosts, delay: delay).run())
            return
        }
        guard arguments.count >= 5, let callers = Int(arguments[2]), let workers = Int(arguments[3]) else {
            complain("usage: LibraryLoad LIST CALLERS WORKERS MODE [FOLDER|COUNT] [--store DIR]")
            exit(2)
        }
        let urls = try readLines(arguments[1])
        let mode = arguments[4]
        let directory = arguments.count > 5 ? arguments[5] : ""
        var configuration = Configuration()
        configuration.workers = workers
        configuration.connectionsPerHost = 0
        configuration.store = store.map { .directory($0) } ?? .none
        configuration.cache.byteBudget = 16 << 30
        if mode == "files" {
            configuration.outputDirectories = [directory]
            for index in 0...(urls.count / 1000) { mkdir(path(directory, index * 1000, isFolder: true), 0o755) }
        }
        if mode == "hits" {
            let hits = Hits(urls: urls, callers: callers, count: Int(directory) ?? urls.count)
            let passes = try await withCoordinator(configuration) { try await hits.run($0) }
            print("{\"passes\":[\(passes.joined(separator: ","))],\"peakKiB\":\(Measurements.peak(Measurements.own))}")
            return
        }

        let counters = Counters()
        let start = Measurements.now()
        let ownBefore = Measurements.cpu(Measurements.own)
        try await withCoordinator(configuration) { coordinator in
            if mode == "many" {
                try fetchMany(urls, callers, coordinator, counters)
                return
            }
            if mode == "queue" {
                await fetchQueued(urls, callers, coordinator, counters)
                return
            }
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<callers {
                    group.addTask {
                        while true {
                            let index = counters.next.add(1, ordering: .relaxed).oldValue
                            if index >= urls.count { return }
                            let destination: Destination =
                                switch mode {
                                case "files": .file(path(directory, index, isFolder: false))
                                case "memory": .memory
                                default: .discard
                                }
                            do {
                                let response = try await coordinator.send(Request(urls[index]), into: destination)
                                if response.status != 200 { counters.failures.add(1, ordering: .relaxed) }
                            } catch {
                                if counters.failures.add(1, ordering: .relaxed).oldValue < 3 { complain("\(error)") }
                            }
                        }
                    }
                }
            }
        }
        let wall = Measurements.now() - start
        let ownTime = Measurements.cpu(Measurements.own) - ownBefore
        let workerTime = Measurements.cpu(Measurements.children)
        let count = Double(urls.count)
        print(
            """
            {"requests":\(urls.count),"failures":\(counters.failures.load(ordering: .relaxed)),"wall":\(wall),\
            "perSecond":\(count / wall),"coordinatorMicroseconds":\(ownTime / count * 1e6),\
            "workerMicroseconds":\(workerTime / count * 1e6),\
            "coordinatorPeakKiB":\(Measurements.peak(Measurements.own)),\
            "workerPeakKiB":\(Measurements.peak(Measurements.children))}
            """)
        if counters.failures.load(ordering: .relaxed) > 0 { exit(1) }
    }

    private static func fetchQueued(
        _ urls: [String], _ width: Int, _ coordinator: Coordinator, _ counters: Counters
    ) async {
        var settings = FetchQueue.Settings()
        settings.width = width
        settings.cancelsOthersOnFailure = false
        let queue = FetchQueue(on: coordinator, settings)
        let (before, begin) = (Measurements.resident(), Measurements.now())
        // A copy of the text, or it would be shared with the list.
        for url in urls { queue.add(Request(String(decoding: Array(url.utf8), as: UTF8.self)), into: .discard) }
        let bytes = Double(Measurements.resident() - before) / Double(urls.count)
        let seconds = (Measurements.now() - begin) / Double(urls.count)
        complain("each takes \(bytes) bytes while it waits, and \(seconds * 1e6) microseconds to add")
        let events = queue.events
        queue.start()
        for await event in events {
            switch event {
            case .finished(_, let response) where response.status == 200: break
            case .finished, .failed: counters.failures.add(1, ordering: .relaxed)
            case .queueFinished: return
            case .started, .willRedirect, .head: break
            }
        }
    }

    private static func fetchMany(
        _ urls: [String], _ window: Int, _ coordinator: Coordinator, _ counters: Counters
    ) throws {
        let template = try coordinator.template(of: Request(""))
        let queue = try AnswerQueue()
        var answers: [FetchAnswer] = []
        var (next, inFlight) = (0, 0)
        while next < urls.count || inFlight > 0 {
            var prepared: [PreparedFetch] = []
            while inFlight < window, next < urls.count {
                let target = try coordinator.target(of: urls[next], template)
                prepared.append(
                    coordinator.prepare(target, template, into: .discard, tag: UInt64(next), answers: queue))
                next += 1
                inFlight += 1
            }
            if !prepared.isEmpty { coordinator.submit(prepared) }
            var poller = pollfd(fd: queue.rawValue, events: Int16(POLLIN), revents: 0)
            _ = poll(&poller, 1, -1)
            queue.take(into: &answers)
            inFlight -= answers.count
            for answer in answers {
                if case .success(let response) = answer.result, response.status == 200 { continue }
                counters.failures.add(1, ordering: .relaxed)
            }
        }
    }

    private static func path(_ directory: String, _ index: Int, isFolder: Bool) -> String {
        let folder = "\(directory)/\(index / 1000)"
        return isFolder ? folder : "\(folder)/\(index)"
    }

    private static func readLines(_ path: String) throws -> [String] {
        guard let file = fopen(path, "r") else {
            perror(path)
            exit(2)
        }
        defer { fclose(file) }
        var lines: [String] = []
        var line: UnsafeMutablePointer<CChar>?
        var capacity = 0
        while getline(&line, &capacity, file) > 0 {
            guard let line else { break }
            lines.append(String(String(cString: line).prefix { $0 != "\n" && $0 != "\t" }))
        }
        free(line)
        return lines
    }
}

/// Writes a line to standard error.
func complain(_ text: String) {
    let line = Array((text + "\n").utf8)
    _ = write(2, line, line.count)
}
