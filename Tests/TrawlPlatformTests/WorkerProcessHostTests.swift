import Glibc
import TestSupport
import Testing
import TrawlPlatform

/// Each in a process of its own, since it changes what belongs to the whole process.
@Suite("Worker processes in difficult hosts")
struct WorkerProcessHostTests {
    private static func isWhole(_ output: String) -> Bool {
        let lines = output.split(separator: "\n").map(String.init)
        return lines.count == 5 && lines[0] == "0 /dev/null" && lines[1] == "1 /dev/null"
            && lines[3].hasPrefix("3 socket:") && lines[4].contains("test-segment")
    }

    @Test("socket and segment may have each other's number in the host")
    func swapped() async {
        await #expect(processExitsWith: .exitCode(0)) {
            let thread = try NamedThread.start(name: "swapped") {
                let output = try? Self.spawnWithSwappedNumbers()
                exit(Self.isWhole(output ?? "") ? 0 : 1)
            }
            thread.join()
        }
    }

    /// Spawns from a thread with a table of descriptors of its own, so that the numbers are free to take.
    private static func spawnWithSwappedNumbers() throws -> String {
        try #require(OwnDescriptors.take())
        // All is moved up and the low numbers are closed before they are taken.
        let pair = try ControlSocket.pair()
        let here = try pair.here.duplicated(atLeast: 1000)
        let there = try pair.there.duplicated(atLeast: 1000)
        close(pair.keepingHere().release())
        let memory = try Self.highSegment()
        // Only this thread sees the numbers change; what was there is still open for all others.
        let process = try WorkerProcess.spawn(
            executable: "/bin/sh", arguments: ["sh", "-c", listDescriptors],
            environment: ProcessEnvironment(["PATH=/usr/bin:/bin"]),
            control: Descriptor(adopting: dup2(there.rawValue, 4)),
            segment: Descriptor(adopting: dup2(memory.rawValue, 3)))
        close(there.release())
        var none: [Int32] = []
        let output = try readAll(here.rawValue, descriptors: &none)
        return try waitForExit(process) == .exited(0) ? output : ""
    }

    private static func highSegment() throws -> Descriptor {
        let segment = try MemoryFile(name: "test-segment")
        return try segment.descriptor.duplicated(atLeast: 1000)
    }

    @Test("a host without stdio starts workers with whole stdio, and its own descriptors keep off those numbers")
    func closedStdio() async {
        await #expect(processExitsWith: .exitCode(0)) {
            for number in 0...2 as ClosedRange<Int32> { close(number) }
            let file = try MemoryFile(name: "test")
            let pair = try ControlSocket.pair()
            guard [file.descriptor.rawValue, pair.here.rawValue, pair.there.rawValue].allSatisfy({ $0 > 2 }) else {
                exit(2)
            }
            let output = try Shell(listDescriptors).finish().output
            exit(Self.isWhole(output) && output.contains("2 /dev/null") ? 0 : 1)
        }
    }

    @Test("a descriptor of the host in the place of standard error is not passed on")
    func strangerAsStandardError() async {
        await #expect(processExitsWith: .exitCode(0)) {
            // So that nobody else takes the number.
            guard OwnDescriptors.take() else { exit(3) }
            close(2)
            guard open("/dev/zero", O_RDONLY | O_CLOEXEC) == 2 else { exit(2) }
            let output = try Shell(listDescriptors).finish().output
            exit(output.contains("2 /dev/null") ? 0 : 1)
        }
    }

    @Test("the variables of a host that cleared its environment are none")
    func clearedEnvironment() async {
        await #expect(processExitsWith: .exitCode(0)) {
            setenv("TRAWL_TEST", "left", 1)
            clearenv()
            guard ProcessEnvironment.own() == ProcessEnvironment([]) else { exit(2) }
            let (output, end) = try Shell(#"echo "<$TRAWL_TEST>" >&3"#, environment: .own()).finish()
            exit(output == "<>\n" && end == .exited(0) ? 0 : 1)
        }
    }

    @Test("a variable of the host that is no UTF-8 is passed on byte for byte")
    func variableBytes() async {
        await #expect(processExitsWith: .exitCode(0)) {
            setenv("TRAWL_TEST", [0x63, CChar(truncatingIfNeeded: 0xE9), 0], 1)
            let script = #"printf %s "$TRAWL_TEST" | od -An -tx1 >&3"#
            let output = try Shell(script, environment: .own()).finish().output
            exit(output.contains("63 e9") ? 0 : 1)
        }
    }

    @Test("where SIGCHLD is ignored the exit is unknown, but seen")
    func ignored() async {
        await #expect(processExitsWith: .exitCode(0)) {
            signal(SIGCHLD, SIG_IGN)
            for _ in 0..<20 {
                // The shell may be gone before it can be watched.
                let shell = try Shell("exit 3")
                guard try shell.finish().exit == .unknown, try shell.process.signal(SIGKILL) == false else { exit(1) }
            }
            let running = try Shell("exec sleep 60")
            guard try running.process.reap() == nil, try running.process.signal(SIGTERM) else { exit(2) }
            exit(try running.finish().exit == .unknown ? 0 : 3)
        }
    }

    @Test("where the host waits for any child the exit is unknown, but seen")
    func reapedByHost() async {
        await #expect(processExitsWith: .exitCode(0)) {
            let shell = try Shell("exit 3")
            guard waitpid(-1, nil, 0) == shell.process.processID else { exit(2) }
            exit(try shell.finish().exit == .unknown ? 0 : 1)
        }
    }

    @Test("children of the host are left alone")
    func othersChildren() async {
        await #expect(processExitsWith: .exitCode(0)) {
            var other: pid_t = 0
            var arguments: [UnsafeMutablePointer<CChar>?] = [strdup("true"), nil]
            guard posix_spawn(&other, "/bin/true", nil, nil, &arguments, environ) == 0 else { exit(2) }
            guard try Shell("exit 4").finish().exit == .exited(4) else { exit(3) }
            exit(waitpid(other, nil, 0) == other ? 0 : 1)
        }
    }

    @Test("starting and reaping leaves no descriptor open")
    func noLeak() async {
        await #expect(processExitsWith: .exitCode(0)) {
            _ = try Shell("exit 0").finish()
            let before = openDescriptors()
            for _ in 0..<30 { _ = try Shell("exit 0").finish() }
            let pair = try ControlSocket.pair()
            for _ in 0..<30 {
                _ = errorNumber {
                    _ = try WorkerProcess.spawn(
                        executable: "/nonexistent", arguments: ["x"], environment: ProcessEnvironment([]),
                        control: pair.here, segment: pair.there)
                }
            }
            var after = openDescriptors()
            // The test's own machinery may have opened something for a moment.
            for _ in 0..<100 where after > before + 2 {
                usleep(50_000)
                after = openDescriptors()
            }
            withExtendedLifetime(pair.here.rawValue) {}
            // The pair is two; the machinery may have closed something as well.
            exit(after <= before + 2 ? 0 : 1)
        }
    }
}

/// How many descriptors this process has open.
private func openDescriptors() -> Int {
    (0..<1024 as Range<Int32>).count { fcntl($0, F_GETFD) >= 0 }
}
