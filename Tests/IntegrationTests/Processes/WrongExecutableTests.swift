import Foundation
import Testing
import Trawl

@Suite("A worker executable that is none", .timeLimit(.minutes(5)))
struct WrongExecutableTests {
    /// The error of fetches on a coordinator with this executable: one that waits for the start, and one that comes
    /// later.
    private func error(
        _ executable: String, _ arguments: [String] = [], startDeadline: Duration = .seconds(60)
    ) async throws -> FetchError {
        try await withTestCoordinator { configuration in
            configuration.workerExecutable = executable
            configuration.workerArguments = arguments
            configuration.tolerance.startDeadline = startDeadline
        } _: { coordinator in
            let request = fakeRequest("/", seconds: 100)
            let first = try #require(await failure(.engineDown) { try await coordinator.send(request) })
            let second = try #require(await failure(.engineDown) { try await coordinator.send(request) })
            #expect(first == second)
            #expect(first.detail.contains(executable))
            return first
        }
    }

    @Test("a program that ends at once is named with its status", arguments: [("/bin/true", 0), ("/bin/false", 1)])
    func endsAtOnce(program: String, status: Int) async throws {
        let error = try await error(program)
        #expect(error.detail.hasSuffix("is not a worker: it ended with status \(status)"), "\(error)")
    }

    @Test("a program that reads to the end of its input is named too")
    func cat() async throws {
        let error = try await error("/bin/cat")
        #expect(error.detail.hasSuffix("is not a worker: it ended with status 0"), "\(error)")
    }

    @Test("a program that prints before it ends is no worker")
    func prints() async throws {
        let error = try await error(try BuiltProducts.faultyWorker(), ["print"])
        #expect(error.detail.contains("is not a worker: it sent what is not a frame of this protocol"), "\(error)")
    }

    @Test("a program that sends a frame in place of a greeting is no worker")
    func earlyFrame() async throws {
        let error = try await error(try BuiltProducts.faultyWorker(), ["early-frame"])
        #expect(error.detail.contains("is not a worker: it sent what is not a frame of this protocol"), "\(error)")
    }

    @Test("a signal is named")
    func signalled() async throws {
        let error = try await error("/bin/sh", ["-c", "kill -SEGV $$"])
        #expect(error.detail.hasSuffix("is not a worker: it was ended by signal 11"), "\(error)")
    }

    @Test("a worker that cannot work here is not tried again")
    func cannotWork() async throws {
        let directory = try TemporaryDirectory()
        let script = "echo start >> \(directory.file("starts")); exit 78"
        let error = try await error("/bin/sh", ["-c", script])
        #expect(error.detail.hasSuffix("does not fit: it said that it cannot work here"), "\(error)")
        // One for each of two slots.
        #expect(directory.content("starts") == Array("start\nstart\n".utf8))
    }

    @Test("another protocol version, build or layout does not fit", arguments: ["version", "build", "layout"])
    func mismatch(fault: String) async throws {
        let error = try await error(try BuiltProducts.faultyWorker(), [fault])
        #expect(error.detail.contains("does not fit: it"), "\(error)")
        switch fault {
        case "version": #expect(error.detail.contains("it speaks protocol "), "\(error)")
        case "build": #expect(error.detail.contains("-other"), "\(error)")
        default: #expect(error.detail.contains("layout 4"), "\(error)")
        }
    }

    @Test("a text file that may be executed cannot be started")
    func noFormat() async throws {
        let directory = try TemporaryDirectory()
        try directory.put("worker", Array("no program\n".utf8))
        try #require(chmod(directory.file("worker"), 0o755) == 0)
        let error = try await error(directory.file("worker"))
        #expect(error.detail.contains("cannot be started: "), "\(error)")
        #expect(error.cause == .system(ENOEXEC))
    }

    @Test("a path that leads to no program is told at once", arguments: ["missing", "directory", "text"])
    func noProgram(kind: String) throws {
        let directory = try TemporaryDirectory()
        _ = try directory.makeDirectory("directory")
        try directory.put("text", Array("#!/bin/sh\n".utf8))
        var configuration = Configuration()
        configuration.workerExecutable = directory.file(kind)
        let error = #expect(throws: FetchError.self) { try Coordinator(configuration) }
        #expect(error?.code == .engineDown)
        #expect(error?.detail.contains("the worker executable \(directory.file(kind)) cannot be run: ") == true)
        let expected = kind == "missing" ? ENOENT : kind == "directory" ? EISDIR : EACCES
        #expect(error?.cause == .system(expected))
    }

    @Test("a program without a word is given up in the end")
    func silent() async throws {
        let error = try await error(
            try BuiltProducts.faultyWorker(), ["silent", "--lifetime", "90"], startDeadline: .milliseconds(500))
        #expect(error.detail.hasSuffix("is not a worker: it did not say that it is ready"), "\(error)")
    }

    @Test("one slot that cannot work leaves the work to the others")
    func oneSlot() async throws {
        try await withFaultyWorkers(["version", "--slot", "0"], workers: 2) { coordinator in
            let requests = (0..<20).map { fakeRequest("/\($0)") }
            for (course, request) in zip(await followAll(coordinator, requests), requests) {
                expectAnswered(course, request)
                #expect(course.worker == "1.1")
            }
        }
    }

    @Test("a worker that fails to start a few times is waited for")
    func slowStart() async throws {
        try await withFaultyWorkers(["early-frame", "--generations", "3"]) { coordinator in
            let request = fakeRequest("/", seconds: 100)
            let course = await follow(coordinator, request)
            expectAnswered(course, request)
            #expect(course.worker == "0.4" && course.attempts == 1)
        }
    }
}
