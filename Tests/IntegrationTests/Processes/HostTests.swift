import Foundation
import Glibc
import Synchronization
import Testing
import Trawl

/// A host finds itself as it was. Each test in a process of its own, since it looks at what belongs to the whole
/// process.
@Suite("The host of a coordinator, POOL-01, POOL-10", .timeLimit(.minutes(10)))
struct HostTests {
    @Test("keeps its signals, mask, directory, umask, locale and environment")
    func untouched() async {
        await #expect(processExitsWith: .success) {
            TestProcess.settled
            umask(0o027)
            signal(SIGUSR1, SIG_IGN)
            setenv("TRAWL_TEST_MARK", "here", 1)
            setlocale(LC_ALL, "C")
            let before = HostState()
            try await withFaultyWorkers(["--generations", "2", "--on", "/bad", "crash", "11"], workers: 2) {
                for path in ["/", "/bad", "/memory/200000"] { #expect(await follow($0, fakeRequest(path)).ends == 1) }
                #expect(HostState() == before)
            }
            #expect(HostState() == before)
        }
    }

    @Test(
        "keeps them with TLS, a store, a stream and a reader that leaves, with workers and in this process",
        .enabled(if: WebSites.canRun, WebSites.missing))
    func untouchedByTransfers() async {
        await #expect(processExitsWith: .success) { try await Self.transfers(workers: 2) }
        await #expect(processExitsWith: .success) { try await Self.transfers(workers: 0) }
    }

    private static func transfers(workers: Int) async throws {
        umask(0o027)
        signal(SIGUSR1, SIG_IGN)
        // Whoever writes to a pipe without a reader is ended by it.
        signal(SIGPIPE, SIG_DFL)
        let directory = try TemporaryDirectory()
        let pipe = directory.file("pipe")
        try #require(mkfifo(pipe, 0o600) == 0)
        try await WebSites.with { sites in
            let before = HostState()
            try await withTestCoordinator(
                workers: workers, adjust: { $0.store = .directory(directory.file("store")) }
            ) { coordinator in
                let secure = try await coordinator.send(sites.request(.secure, "/who"))
                #expect(secure.status == 200)
                let bytes = try await readStream(coordinator.start(sites.request(.clear, "/big"), into: .stream))
                #expect(bytes == WebSites.big)
                let reader = open(pipe, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
                let fetch = coordinator.start(sites.request(.clear, "/big"), into: .file(pipe))
                var byte: UInt8 = 0
                let isRead = await eventually { read(reader, &byte, 1) == 1 }
                #expect(isRead)
                close(reader)
                let error = await failure(.file) { try await fetch.response }
                #expect(error?.cause == .system(EPIPE))
                #expect(HostState() == before)
            }
            #expect(HostState() == before)
        }
    }

    @Test("waits for its own children undisturbed")
    func ownChildren() async {
        await #expect(processExitsWith: .success) {
            let quick = try spawn("/bin/sh", ["-c", "exit 7"])
            let slow = try spawn("/bin/sleep", ["600"])
            try await withFaultyWorkers(["--generations", "3", "crash", "9"], workers: 2) { coordinator in
                let requests = (0..<10).map { fakeRequest("/\($0)") }
                for (course, request) in zip(await followAll(coordinator, requests), requests) {
                    expectAnswered(course, request)
                }
            }
            var status: Int32 = 0
            #expect(waitpid(quick, &status, 0) == quick && status == 7 << 8)
            #expect(waitpid(slow, &status, WNOHANG) == 0)
            kill(slow, SIGKILL)
            #expect(waitpid(slow, &status, 0) == slow && status == SIGKILL)
            #expect(waitpid(-1, &status, WNOHANG) == -1 && errno == ECHILD)
        }
    }

    @Test("may ignore SIGCHLD")
    func ignoresChildren() async {
        await #expect(processExitsWith: .success) {
            signal(SIGCHLD, SIG_IGN)
            try await Self.losesWorkersAndGoesOn()
        }
    }

    @Test("may wait for any child in a loop")
    func reapsAll() async {
        await #expect(processExitsWith: .success) {
            let isOver = Flag()
            let reaper = Thread {
                while !isOver.isSet {
                    var status: Int32 = 0
                    if waitpid(-1, &status, 0) < 0 { usleep(500) }
                }
            }
            reaper.start()
            try await Self.losesWorkersAndGoesOn()
            isOver.set()
        }
    }

    /// Ten times a worker dies, and all fetches succeed.
    private static func losesWorkersAndGoesOn() async throws {
        try await withFaultyWorkers(["--generations", "5", "--on", "/bad", "crash", "11"], workers: 2) { coordinator in
            // The status of an end cannot be had here, so each end may have been a crash, and the third one ends a
            // fetch.
            for round in 0..<10 {
                let requests = (0..<10).map { fakeRequest("/\(round)/\($0)") }
                let bad = coordinator.start(fakeRequest("/bad"))
                for (course, request) in zip(await followAll(coordinator, requests), requests) {
                    expectAnswered(course, request)
                }
                let course = await follow(bad)
                #expect(course.ends == 1 && (course.response != nil || course.code == .workerLost))
            }
            let last = fakeRequest("/last")
            let course = await follow(coordinator, last)
            expectAnswered(course, last)
        }
        #expect(ProcessTree.children().isEmpty)
    }

    @Test("may have cleared its environment")
    func clearedEnvironment() async {
        await #expect(processExitsWith: .success) {
            try await withFaultyWorkers(["none"], adjust: { _ in clearenv() }) { coordinator in
                let request = fakeRequest("/")
                expectAnswered(await follow(coordinator, request), request)
            }
        }
    }

    @Test("may have hundreds of busy threads")
    func busy() async {
        await #expect(processExitsWith: .success) { try await Self.fetchesAmongBusyThreads() }
    }

    /// Lets other processes go before all threads of this one, and before what these start.
    private static func stepBack() {
        for name in (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")) ?? [] {
            if let thread = id_t(name) { setpriority(__priority_which_t(PRIO_PROCESS.rawValue), thread, 10) }
        }
    }

    private static func fetchesAmongBusyThreads() async throws {
        // The host and its workers are as busy as before, and other tests are spared.
        stepBack()
        let isOver = Flag()
        for _ in 0..<200 {
            let thread = Thread { while !isOver.isSet {} }
            thread.stackSize = 64 << 10
            thread.start()
        }
        try await withFaultyWorkers(["--generations", "1", "--on", "/bad", "crash", "11"]) { coordinator in
            for round in 0..<3 {
                let requests = (0..<10).map { fakeRequest("/\(round)/\($0)", seconds: 300) }
                for (course, request) in zip(await followAll(coordinator, requests), requests) {
                    expectAnswered(course, request)
                }
            }
            let bad = fakeRequest("/bad", seconds: 300)
            expectAnswered(await follow(coordinator, bad), bad)
        }
        isOver.set()
    }

    @Test("gives its workers stdio, the control socket and the shared segment, and nothing of its own")
    func descriptors() async {
        await #expect(processExitsWith: .success) {
            // All without close-on-exec, in low and high places.
            var ends: [Int32] = [0, 0]
            #expect(pipe(&ends) == 0)
            for number in [5, 6, 9, 10, 11, 50, 300] as [Int32] where fcntl(number, F_GETFD) < 0 {
                dup2(ends[0], number)
            }
            _ = open("/etc/passwd", O_RDONLY)
            let directory = try TemporaryDirectory()
            let list = directory.file("list")
            try await withFaultyWorkers(["descriptors", "--tally", list]) { coordinator in
                let request = fakeRequest("/")
                expectAnswered(await follow(coordinator, request), request)
            }
            let text = String(decoding: try #require(directory.content("list")), as: UTF8.self)
            let lines = text.split(separator: "\n").map(String.init)
            try #require(lines.count == 5, "\(lines)")
            #expect(lines[0] == "0 /dev/null" && lines[1] == "1 /dev/null" && lines[2].hasPrefix("2 "))
            #expect(lines[3].hasPrefix("3 socket:") && lines[4].hasPrefix("4 /memfd:trawl-segment"))
        }
    }

    @Test("real workers open their own descriptors only")
    func realDescriptors() async {
        await #expect(processExitsWith: .success) {
            let directory = try TemporaryDirectory()
            // Without close-on-exec: a careless host.
            let mark = open(directory.file("mark"), O_RDWR | O_CREAT, 0o600)
            try #require(mark >= 0)
            try await withOrigin { origin in
                try await withTestCoordinator { coordinator in
                    let others = Set([origin.pid])
                    _ = try await coordinator.send(Request(origin.url("/bytes/10")))
                    let workers = ProcessTree.children().filter { !others.contains($0) }
                    #expect(workers.count == 2)
                    // Nor one another's: but for standard error, no socket is in two of the processes.
                    let sockets = ([getpid()] + workers).map { process in
                        ProcessTree.descriptors(of: process).filter { !$0.hasPrefix("2 ") }
                            .compactMap { $0.split(separator: " ").last }.filter { $0.hasPrefix("socket:") }
                    }
                    let all = sockets.flatMap { Set($0) }
                    #expect(Set(all).count == all.count, "\(sockets)")
                    for worker in workers {
                        let open = ProcessTree.descriptors(of: worker)
                        #expect(open.contains("0 /dev/null") && open.contains("1 /dev/null"), "\(open)")
                        #expect(open.contains { $0.hasPrefix("3 socket:") }, "\(open)")
                        #expect(open.contains { $0.hasPrefix("4 /memfd:trawl-segment") }, "\(open)")
                        #expect(!open.contains { $0.contains("mark") }, "\(open)")
                    }
                }
            }
        }
    }

    @Test(
        "gets the terminal's signals alone: its workers are in groups of their own",
        arguments: [SIGINT, SIGTSTP, SIGQUIT])
    func groups(signal number: Int32) async {
        // An exit test takes no argument, so each signal has its own.
        switch number {
        case SIGINT: await #expect(processExitsWith: .success) { try await Self.signalGroup(SIGINT) }
        case SIGTSTP: await #expect(processExitsWith: .success) { try await Self.signalGroup(SIGTSTP) }
        default: await #expect(processExitsWith: .success) { try await Self.signalGroup(SIGQUIT) }
        }
    }

    private static func signalGroup(_ number: Int32) async throws {
        TestProcess.settled
        try #require(setpgid(0, 0) == 0)
        signal(number, SIG_IGN)
        try await withFaultyWorkers(["none"], workers: 2) { coordinator in
            let request = fakeRequest("/")
            expectAnswered(await follow(coordinator, request), request)
            let workers = ProcessTree.children()
            #expect(workers.count == 2)
            for worker in workers { #expect(getpgid(worker) == worker) }
            #expect(kill(0, number) == 0)
            for _ in 0..<10 {
                let course = await follow(coordinator, request)
                expectAnswered(course, request)
                #expect(course.worker?.hasSuffix(".1") == true)
            }
            #expect(ProcessTree.children() == workers)
        }
    }
}

/// What belongs to a whole process and is none of a library's business.
private struct HostState: Equatable {
    var dispositions: [Int] = []
    var mask: [Bool] = []
    let directory = FileManager.default.currentDirectoryPath
    let creationMask: mode_t
    let locale = String(cString: setlocale(LC_ALL, nil))
    let environment = ProcessInfo.processInfo.environment

    init() {
        var blocked = sigset_t()
        pthread_sigmask(SIG_BLOCK, nil, &blocked)
        for number in 1..<65 as Range<Int32> {
            mask.append(sigismember(&blocked, number) == 1)
            var action = sigaction()
            _ = sigaction(number, nil, &action)
            dispositions.append(unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self))
        }
        creationMask = umask(0)
        umask(creationMask)
    }
}

/// Something that is set once.
private final class Flag: Sendable {
    private let value = Atomic(false)
    var isSet: Bool { value.load(ordering: .relaxed) }
    func set() { value.store(true, ordering: .relaxed) }
}

/// Starts a program without much ado.
private func spawn(_ path: String, _ arguments: [String]) throws -> pid_t {
    var argv: [UnsafeMutablePointer<CChar>?] = ([path] + arguments).map { strdup($0) } + [nil]
    defer { argv.forEach { free($0) } }
    var pid: pid_t = 0
    try #require(posix_spawn(&pid, path, nil, nil, &argv, environ) == 0)
    return pid
}
