import Glibc
import Synchronization
import Testing

@testable import TrawlPlatform

@Suite("Worker processes")
struct WorkerProcessTests {
    @Test("the child has standard streams, its socket and the segment, and nothing else (POOL-01)")
    func descriptors() throws {
        // Open in the host and not close-on-exec, as libraries do it.
        let strays = (0..<5).map { _ in open("/dev/zero", O_RDONLY) }
        defer { for stray in strays { close(stray) } }
        let (output, exit) = try Shell(listDescriptors).finish()
        let lines = output.split(separator: "\n").map(String.init)
        #expect(lines.map { $0.prefix { $0 != " " } } == ["0", "1", "2", "3", "4"])
        #expect(lines.prefix(2) == ["0 /dev/null", "1 /dev/null"])
        #expect(lines.dropFirst(3).first?.hasPrefix("3 socket:") == true)
        #expect(lines.last?.contains("test-segment") == true)
        #expect(exit == .exited(0))
    }

    @Test("the child has no blocked or ignored signal and a process group of its own")
    func signals() throws {
        // Named threads block nearly all; SIGURG is ignored by default anyway, so ignoring it harms no other test.
        signal(SIGURG, SIG_IGN)
        defer { signal(SIGURG, SIG_DFL) }
        let result = Guarded<String>("")
        let thread = try NamedThread.start(name: "spawner") {
            let script = "grep -E 'SigBlk|SigIgn' /proc/self/status >&3; cut -d' ' -f5 /proc/$$/stat >&3; echo $$ >&3"
            let output = try? Shell(script).finish().output
            result.withLock { $0 = output ?? "failed" }
        }
        thread.join()
        let lines = result.withLock { $0 }.split(separator: "\n").map(String.init)
        try #require(lines.count == 4)
        #expect(lines[0] == "SigBlk:\t0000000000000000")
        // glibc leaves its own two, 32 and 33, ignored until a program needs them.
        let ignored = try #require(UInt64(lines[1].dropFirst(8), radix: 16))
        #expect(ignored & ~(0b11 << 31) == 0)
        #expect(lines[2] == lines[3])
    }

    @Test("the environment is what was given")
    func environment() throws {
        let environment = ProcessEnvironment(["PATH=/bin", "TRAWL=a b=c"])
        let (output, _) = try Shell("/usr/bin/env >&3", environment: environment).finish()
        let lines = Set(output.split(separator: "\n").map(String.init))
        #expect(lines.isSuperset(of: ["PATH=/bin", "TRAWL=a b=c"]))
        #expect(!lines.contains { $0.hasPrefix("HOME=") })
    }

    @Test("variables are kept by their whole names")
    func keptVariables() {
        let all = ProcessEnvironment(["TZ=UTC", "TZDIR=/x", "LD_LIBRARY_PATH=/lib", "T=Z="])
        #expect(all.keeping(["TZ", "LD_LIBRARY_PATH"]) == ProcessEnvironment(["TZ=UTC", "LD_LIBRARY_PATH=/lib"]))
    }

    @Test(
        "exits are told apart",
        arguments: [
            ("exit 0", ProcessExit.exited(0)), ("exit 78", .exited(78)), ("kill -9 $$", .signalled(9)),
            ("kill -TERM $$", .signalled(15)),
        ])
    func exits(script: String, expected: ProcessExit) throws {
        let shell = try Shell(script)
        #expect(try shell.finish().exit == expected)
        #expect(try shell.process.reap() == expected)
        #expect(try shell.process.signal(SIGTERM) == false)
    }

    @Test("a running child is not reaped, and can be signalled")
    func running() throws {
        let shell = try Shell("exec sleep 60")
        #expect(try shell.process.reap() == nil)
        let poller = try Poller()
        try poller.add(shell.process.exitDescriptor, token: 0, interest: .read)
        #expect(try poller.wait(timeout: .zero) { _ in } == 0)
        #expect(try shell.process.signal(SIGKILL))
        #expect(try waitForExit(shell.process) == .signalled(SIGKILL))
        close(shell.control)
    }

    @Test("what cannot be started is an error")
    func missing() throws {
        let pair = try ControlSocket.pair()
        func spawn(_ executable: String, _ arguments: [String] = ["x"], _ variables: [String] = []) -> Int32? {
            errorNumber {
                _ = try WorkerProcess.spawn(
                    executable: executable, arguments: arguments, environment: ProcessEnvironment(variables),
                    control: pair.here, segment: pair.there)
            }
        }
        #expect(spawn("/nonexistent/worker") == ENOENT)
        #expect(spawn("/proc/version") == EACCES)
        #expect(spawn("/bin/sh", ["a\0b"]) == EINVAL)
        #expect(spawn("/bin/sh", ["x"], ["A=a\0b"]) == EINVAL)
    }

    @Test("spawning while two hundred threads open descriptors passes none of them on")
    func busy() throws {
        let shared = Busy()
        let openers = try (0..<200).map { _ in
            try NamedThread.start(name: "opener", stackSize: 1 << 17) {
                while !shared.stop.load(ordering: .relaxed) {
                    let file = open("/dev/null", O_RDONLY)
                    // Others have something to do too.
                    usleep(2000)
                    if file >= 0 { close(file) }
                }
            }
        }
        let spawners = try (0..<8).map { _ in
            try NamedThread.start(name: "spawner") {
                for _ in 0..<5 {
                    let output = (try? Shell(listDescriptors).finish().output) ?? "not started"
                    let numbers = output.split(separator: "\n").map { $0.prefix { $0 != " " } }
                    if numbers != ["0", "1", "2", "3", "4"] { shared.failures.withLock { $0.append(output) } }
                }
            }
        }
        for thread in spawners { thread.join() }
        shared.stop.store(true, ordering: .relaxed)
        for thread in openers { thread.join() }
        #expect(shared.failures.withLock { $0 } == [])
    }

    @Test("the kernel's count of kills is found in its statistics")
    func kills() {
        // Every kernel since 4.13 has the line.
        #expect(OutOfMemoryKills.count() != nil)
    }

    @Test("it is a line of its own among others, of the machine and of a control group")
    func killLine() {
        let group = "low 0\nhigh 12\nmax 3\noom 2\noom_kill 7\noom_group_kill 1\n"
        #expect(OutOfMemoryKills.parse(group) == 7)
        #expect(OutOfMemoryKills.parse("nr_free_pages 5\noom_kill 41\nballoon_inflate 0\n") == 41)
        #expect(OutOfMemoryKills.parse("oom 2\noom_group_kill 1\n") == nil)
        #expect(OutOfMemoryKills.parse("") == nil)
    }
}

private final class Busy: Sendable {
    let stop = Atomic<Bool>(false)
    let failures = Guarded<[String]>([])
}
