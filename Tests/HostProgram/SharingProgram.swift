import Glibc
import Trawl

/// Uses the default coordinator, tells what it sees line by line, and ends.
///
/// Arguments: how it ends (`return`, `exit`, `log` for an exit on the engine's own thread, `fork` for a child that
/// tries too, and then a return), the worker executable, a path for the status socket, a path for a file, a URL without
/// an end, and a short one.
enum SharingProgram {
    static func run(_ arguments: ArraySlice<String>) async throws {
        let arguments = Array(arguments)
        guard arguments.count == 6 else { exit(2) }
        let (ending, socket, file, endless, short) = (
            arguments[0], arguments[2], arguments[3], arguments[4], arguments[5]
        )
        var configuration = Configuration()
        configuration.workerExecutable = arguments[1]
        configuration.workers = 65
        tell("nonsense \(code { () throws(FetchError) in try Coordinator.configureDefault(configuration) })")
        configuration.workers = 2
        configuration.store = .none
        configuration.statusSocket = .path(socket + "/missing/socket")
        try Coordinator.configureDefault(configuration)
        tell("unusable \(code { () throws(FetchError) in _ = try Coordinator.default })")
        tell("unstarted \(await outcome(of: Request(short).start()))")
        configuration.statusSocket = .path(socket)
        if ending == "log" {
            configuration.debugLog = DebugLog(.status) { line in if line.contains("last") { exit(0) } }
        }
        try Coordinator.configureDefault(configuration)
        let same = try await withThrowingTaskGroup(of: Coordinator.self) { group in
            for _ in 0..<8 { group.addTask { try Coordinator.default } }
            return try await group.reduce(into: [Coordinator]()) { $0.append($1) }
        }
        tell("same \(same.allSatisfy { $0 === same[0] })")
        tell("late \(code { () throws(FetchError) in try Coordinator.configureDefault(Configuration()) })")
        let queue = try FetchQueue.shared
        let fetches = [Request(short), Request("nonsense"), Request(short)].map { $0.start() }
        var outcomes: [String] = []
        for fetch in fetches { outcomes.append(await outcome(of: fetch)) }
        tell("queue \(try queue === FetchQueue.shared) \(queue.settings.width) \(outcomes.joined(separator: " "))")
        let fetch = try Coordinator.default.start(Request(endless), into: .file(file))
        for await event in fetch.events { if case .head = event { break } }
        if ending == "fork" { fork() }
        tell("status \(try await Coordinator.default.send(Request(short)).status)")
        switch ending {
        case "exit": exit(0)
        case "log": _ = try await Coordinator.default.send(Request(short + "/last"))
        default: break
        }
    }

    /// A child that goes on without an exec, and ends as a program does.
    private static func fork() {
        // Not for programs in Swift, which is why it has to be looked for: but some are loaded by ones that do it.
        guard let symbol = dlsym(nil, "fork") else { return }
        let fork = unsafeBitCast(symbol, to: (@convention(c) () -> pid_t).self)
        let child = fork()
        if child == 0 {
            tell("child \(code { () throws(FetchError) in _ = try Coordinator.default })")
            exit(0)
        }
        var status: Int32 = 0
        waitpid(child, &status, 0)
        tell("child ended \(status)")
    }

    private static func code(_ body: () throws(FetchError) -> Void) -> String {
        do throws(FetchError) {
            try body()
            return "done"
        } catch {
            return error.code.rawValue
        }
    }

    private static func outcome(of fetch: Fetch) async -> String {
        do throws(FetchError) {
            return try await "\(fetch.response.status)"
        } catch {
            return error.code.rawValue
        }
    }

    private static func tell(_ line: String) {
        let bytes = Array((line + "\n").utf8)
        _ = write(STDOUT_FILENO, bytes, bytes.count)
    }
}
