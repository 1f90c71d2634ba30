import Foundation
import Glibc
import Testing

/// A batch that waits for a server, and what is told about it.
private final class WatchedBatch {
    let bed: BatchBed
    let runtime: TemporaryDirectory
    let run: ChildProcess

    /// Starts a batch of as many URLs as are given, and returns when all are at their servers.
    init(_ urls: [String], _ origin: LoopbackOriginProcess, _ more: [String] = []) async throws {
        bed = try BatchBed()
        runtime = try TemporaryDirectory()
        let before = try origin.log(prefix: "/stall").count
        try bed.putList(urls)
        run = try ChildProcess(
            try BuiltProducts.trawl(), bed.arguments(more),
            environment: environment(runtime), errors: bed.directory.file("errors"))
        #expect(await eventually { (try? origin.log(prefix: "/stall").count) == before + urls.count })
    }

    var socket: String { runtime.file("trawl/\(run.pid).sock") }

    /// What it has told at SIGUSR1 so far.
    var reports: [String] {
        Array(bed.errors.components(separatedBy: "trawl batch \(run.pid)  up ").dropFirst())
    }

    func command(_ arguments: [String]) throws -> CommandRun {
        try CommandRun(arguments, environment: ["XDG_RUNTIME_DIR": runtime.path, "TMPDIR": runtime.path])
    }
}

private func environment(_ runtime: TemporaryDirectory) -> [String] {
    var environment = ProcessInfo.processInfo.environment
    environment["XDG_RUNTIME_DIR"] = runtime.path
    environment["TMPDIR"] = runtime.path
    return environment.map { "\($0)=\($1)" }
}

@Suite("trawl status and SIGUSR1", .serialized, .timeLimit(.minutes(2)))
struct WatchCommandTests {
    @Test("a batch tells its status by itself, and its socket goes with it")
    func batch() async throws {
        try await withOrigin { origin in
            let batch = try await WatchedBatch((0..<3).map { origin.url("/stall?after=\($0)") }, origin)
            var all = try batch.command(["status"])
            // One worker may have all of them before the other is there.
            let areReady = try await eventually {
                if all.text.contains("\nworkers   2 ready\n") { return true }
                all = try batch.command(["status"])
                return false
            }
            #expect(areReady, "\(all.text)")
            #expect(all.status == 0 && all.text.hasPrefix("trawl batch \(batch.run.pid)  up "), "\(all.errors)")
            #expect(all.text.contains("\nfetches   0 done, 0 failed, 3 in flight, 0 waiting\n"))
            #expect(all.text.contains("\n  3  0  http://127.0.0.1:\(origin.port)\n"))
            for name in ["\(batch.run.pid)", batch.socket] {
                let one = try batch.command(["status", "--json", name])
                let object = try JSONSerialization.jsonObject(with: one.output) as? [String: Any]
                #expect(one.status == 0 && object?["pid"] as? Int == Int(batch.run.pid))
                #expect(one.text.count { $0 == "\n" } == 1)
            }
            await batch.run.signalTwice(SIGINT)
            #expect(batch.run.exitStatus(within: 60_000) == 75)
            #expect(try FileManager.default.contentsOfDirectory(atPath: batch.runtime.file("trawl")).isEmpty)
            let none = try batch.command(["status"])
            #expect(none.status == 1 && none.text.isEmpty)
            #expect(none.errors == "trawl: nothing that tells its status runs\n")
        }
    }

    /// Whether a process tells its status when it is asked by SIGUSR1, perhaps more than once: an engine that has no
    /// time within a second is not waited for.
    ///
    /// - Parameter count: How often it was told.
    private func tells(_ process: ChildProcess, _ count: () -> Int) async -> Bool {
        let before = count()
        for _ in 0..<6 {
            process.signal(SIGUSR1)
            if await eventually(within: .seconds(10), { count() > before }) { return true }
        }
        return false
    }

    @Test("SIGUSR1 tells the same on standard error, again and again, and changes nothing else")
    func signal() async throws {
        try await withOrigin { origin in
            let batch = try await WatchedBatch([origin.url("/stall?after=5")], origin, ["--status-socket", "none"])
            #expect(!FileManager.default.fileExists(atPath: batch.runtime.file("trawl")))
            for _ in 1...3 { #expect(await tells(batch.run) { batch.reports.count }, "\(batch.bed.errors)") }
            #expect(batch.bed.errors.contains("fetches   0 done, 0 failed, 1 in flight, 0 waiting\n"))
            // All of one name: workers take no notice of it.
            let workers = ProcessTree.children(of: batch.run.pid)
            for worker in workers { kill(worker, SIGUSR1) }
            var areReady = false
            for _ in 0..<10 where !areReady {
                #expect(await tells(batch.run) { batch.reports.count }, "\(batch.bed.errors)")
                areReady = await eventually(within: .seconds(1)) {
                    batch.reports.last?.contains("\nworkers   2 ready\n") == true
                }
            }
            #expect(areReady, "\(batch.bed.errors)")
            #expect(ProcessTree.children(of: batch.run.pid).sorted() == workers.sorted())
            #expect(batch.bed.recordCount() == 0)
            await batch.run.signalTwice(SIGTERM)
            #expect(batch.run.exitStatus(within: 60_000) == 75)
        }
    }

    @Test("a get and a pipe tell it too, and their output stays theirs")
    func getAndPipe() async throws {
        try await withOrigin { origin in
            let directory = try TemporaryDirectory()
            let get = try ChildProcess(
                try BuiltProducts.trawl(), ["get", origin.url("/stall?after=5")], errors: directory.file("get"))
            #expect(await eventually { (try? origin.log(prefix: "/stall").count) == 1 })
            func text(_ name: String) -> String { String(decoding: directory.content(name) ?? [], as: UTF8.self) }
            func count(_ name: String, _ pid: pid_t) -> Int {
                text(name).components(separatedBy: "trawl \(name) \(pid)  up ").count - 1
            }
            #expect(await tells(get) { count("get", get.pid) }, "\(text("get"))")
            get.signal(SIGTERM)
            _ = get.exitStatus(within: 30_000)
            let runtime = try TemporaryDirectory()
            let pipe = try ChildProcess(
                try BuiltProducts.trawl(), ["pipe", "--workers", "1"], environment: environment(runtime),
                errors: directory.file("pipe"))
            _ = "{\"id\":1,\"url\":\"\(origin.url("/bytes/3"))\"}\n".withCString { write(pipe.input, $0, strlen($0)) }
            let answer = pipe.readLine()
            #expect(answer?.hasPrefix("{\"id\":1,") == true)
            #expect(await tells(pipe) { count("pipe", pipe.pid) }, "\(text("pipe"))")
            #expect(text("pipe").contains("fetches   1 done, 0 failed, 0 in flight, 0 waiting\n"))
            pipe.closeInput()
            #expect(pipe.readLine() == nil)
            #expect(pipe.exitStatus(within: 30_000) == 0)
        }
    }

    @Test("the socket of a run that was killed is taken away by who looks, and by the next run")
    func killed() async throws {
        try await withOrigin { origin in
            let batch = try await WatchedBatch([origin.url("/stall?after=5")], origin)
            batch.run.signal(SIGKILL)
            #expect(await eventually { !batch.run.isRunning })
            #expect(FileManager.default.fileExists(atPath: batch.socket))
            let gone = try batch.command(["status", batch.socket])
            #expect(gone.status == 1 && gone.errors.hasSuffix("nothing runs there\n"))
            #expect(FileManager.default.fileExists(atPath: batch.socket), "it is not known to be one of ours")
            #expect(try batch.command(["status"]).status == 1)
            #expect(!FileManager.default.fileExists(atPath: batch.socket))
            let second = try await WatchedBatch([origin.url("/stall?after=6")], origin)
            second.run.signal(SIGKILL)
            #expect(await eventually { !second.run.isRunning })
            try second.bed.putList([])
            let next = try second.command(second.bed.arguments())
            #expect(next.status == 0)
            #expect(!FileManager.default.fileExists(atPath: second.socket))
        }
    }

    @Test("what cannot be asked is told with its own status")
    func failures() async throws {
        let runtime = try TemporaryDirectory()
        let environment = ["XDG_RUNTIME_DIR": runtime.path, "TMPDIR": runtime.path]
        for (arguments, status) in [
            (["status", "999999999"], 1), (["status", runtime.file("none")], 1), (["status", "/no/such/place"], 1),
            (["status", ""], 2), (["status", "a", "b"], 2), (["top", "--interval", "0"], 2),
            (["top", "--frames", "0"], 2), (["top", "--frames", "1", "999999999"], 1),
            (["batch", "--metrics-interval", "3", "/dev/null"], 2), (["batch", "--metrics-file", "-", "/dev/null"], 2),
        ] as [([String], Int32)] {
            let run = try CommandRun(arguments, environment: environment)
            #expect(run.status == status && run.text.isEmpty && run.errors.hasPrefix("trawl: "), "\(arguments): \(run)")
            #expect(run.errors.count { $0 == "\n" } == 1)
        }
        // A socket of something else.
        let strange = try ScriptedReport(Array("HTTP/1.1 200 OK\r\n\r\n".utf8), at: runtime.file("strange"))
        #expect(try CommandRun(["status", strange.path], environment: environment).status == 65)
        let later = try ScriptedReport(Array("{\"v\":2}\n".utf8), at: runtime.file("later"))
        let told = try CommandRun(["status", later.path], environment: environment)
        #expect(told.status == 65 && told.errors.contains("version 2"))
        let silent = try ScriptedReport(nil, at: runtime.file("silent"))
        #expect(try CommandRun(["status", silent.path], environment: environment).status == 69)
    }

    @Test(
        "a socket or file that cannot be made is told with its option",
        arguments: [
            ("--status-socket", "/no/such/place/socket", "No such file or directory"),
            ("--metrics-file", "/no/such/place/file", "No such file or directory"),
            ("--hsts", "/", "Is a directory"),
        ])
    func unusablePlace(option: String, path: String, reason: String) throws {
        let runtime = try TemporaryDirectory()
        for command in [["batch", "/dev/null", "--no-files"], ["pipe"]] {
            let run = try CommandRun(
                command + [option, path], environment: ["XDG_RUNTIME_DIR": runtime.path, "TMPDIR": runtime.path])
            #expect(run.status == 73 && run.text.isEmpty)
            #expect(run.errors == "trawl: \(option): \(path): \(reason)\n")
        }
    }

    @Test("a directory that others may enter is not used")
    func openDirectory() async throws {
        try await withOrigin { origin in
            let runtime = try TemporaryDirectory()
            let shared = try runtime.makeDirectory("trawl")
            chmod(shared, 0o755)
            let bed = try BatchBed()
            try bed.putList([origin.url("/bytes/10")])
            let run = try CommandRun(
                bed.arguments(), environment: ["XDG_RUNTIME_DIR": runtime.path, "TMPDIR": runtime.path])
            #expect(run.status == 0)
            #expect(try FileManager.default.contentsOfDirectory(atPath: shared).isEmpty)
            // The second place was used.
            #expect(FileManager.default.fileExists(atPath: runtime.file("trawl-\(geteuid())")))
        }
    }
}

/// A socket at which something else listens: it says what it was given to whoever comes, or nothing at all.
final class ScriptedReport: Sendable {
    let path: String
    private let socket: Int32

    init(_ bytes: [UInt8]?, at path: String) throws {
        self.path = path
        let socket = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        self.socket = socket
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix(107)) }
        let result = withUnsafePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(socket, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard result == 0, listen(socket, 8) == 0 else {
            throw ChildProcess.Failure(description: "bind \(path): errno \(errno)")
        }
        guard let bytes else { return }
        Thread.detachNewThread {
            while true {
                let client = accept(socket, nil, nil)
                if client < 0 { return }
                _ = bytes.withUnsafeBytes { write(client, $0.baseAddress, $0.count) }
                close(client)
            }
        }
    }

    deinit {
        shutdown(socket, Int32(SHUT_RDWR))
        close(socket)
    }
}
