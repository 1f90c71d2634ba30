import Glibc
import Testing
import Trawl

@Suite("What suspended fetches make of answers to requests for the rest", .timeLimit(.minutes(2)))
struct SuspendedRestTests {
    @Test(
        "a rest that ends before its range does is broken off, however its end is told and wherever it goes",
        arguments: [ScriptedOrigin.Framing.close, .chunked])
    func restEndsEarly(framing: ScriptedOrigin.Framing) async throws {
        for name in ["memory", "stream", "x", "root/x"] {
            let scene = try SuspendScene(SuspendScene.Site(breaksParts: true, partFraming: framing))
            let directory = try TemporaryDirectory()
            let root = try directory.makeDirectory("root")
            try await withTestCoordinator(outputDirectories: [root]) { configuration in
                configuration.suspendedConnectionLifetime = .milliseconds(50)
            } _: { coordinator in
                let sink: Destination =
                    switch name {
                    case "memory": .memory
                    case "stream": .stream
                    default: .file(directory.file(name))
                    }
                let (fetch, course) = try await scene.halfway(coordinator, into: sink)
                try await scene.suspendForLong(fetch)
                fetch.resume()
                let result = await course.value
                #expect(result.error?.code == .truncated, "\(name)")
                #expect(directory.content(name) == nil)
            }
        }
    }

    @Test(
        "an answer that is neither the rest nor the same whole is one by itself; a stream fails",
        arguments: [202, 203])
    func otherAnswers(status: Int) async throws {
        for name in ["memory", "stream", "x", "root/x"] {
            let scene = try SuspendScene(SuspendScene.Site(partStatus: status))
            let directory = try TemporaryDirectory()
            let root = try directory.makeDirectory("root")
            try await withTestCoordinator(outputDirectories: [root]) { configuration in
                configuration.suspendedConnectionLifetime = .milliseconds(50)
            } _: { coordinator in
                let sink: Destination =
                    switch name {
                    case "memory": .memory
                    case "stream": .stream
                    default: .file(directory.file(name))
                    }
                let (fetch, course) = try await scene.halfway(coordinator, into: sink)
                try await scene.suspendForLong(fetch)
                fetch.resume()
                let result = await course.value
                if name == "stream" {
                    #expect(result.error?.code == .connectionLost)
                    return
                }
                let response = try #require(result.response, "\(name) \(String(describing: result.error))")
                let file = directory.content(name)
                let bytes = file ?? response.body.bytes
                #expect(response.status == status && response.receivedLength == 2, "\(name)")
                #expect((response.file == nil) == (file == nil), "\(name)")
                #expect(bytes == Array("no".utf8), "\(name)")
            }
        }
    }

    @Test(
        "where the rest of a part, or of an error, cannot be asked for, a reader is given nothing twice",
        arguments: [206, 404])
    func ownPart(status: Int) async throws {
        for name in ["memory", "stream", "pipe"] {
            let scene = try SuspendScene(SuspendScene.Site(firstStatus: status))
            let directory = try TemporaryDirectory()
            try await withTestCoordinator { configuration in
                configuration.suspendedConnectionLifetime = .milliseconds(50)
            } _: { coordinator in
                let pipe = try name == "pipe" ? HalfReadPipe(directory.file(name)) : nil
                var options = Destination.FileOptions()
                options.savesErrorBodies = true
                let sink: Destination =
                    switch name {
                    case "memory": .memory
                    case "stream": .stream
                    default: .file(directory.file(name), options: options)
                    }
                var request = Request(scene.origin.url("/file"))
                request.fields["Range"] = "bytes=0-"
                let fetch = coordinator.start(request, into: sink)
                let course = Task { await SuspendedCourse(of: fetch) }
                let isUnderWay = await eventually {
                    pipe?.read()
                    return fetch.currentProgress.download.completed >= 100_000
                }
                try #require(isUnderWay)
                try await scene.suspendForLong(fetch)
                fetch.resume()
                let result = await course.value
                guard name != "memory" else {
                    #expect(result.response?.body.bytes == SuspendScene.content && scene.asked.count == 2)
                    return
                }
                #expect(result.error?.code == .connectionLost, "\(name)")
                #expect(scene.asked.count == 1)
                pipe?.read()
                let given = pipe?.bytes ?? result.streamed
                #expect(SuspendScene.content.starts(with: given) && !given.isEmpty)
            }
        }
    }

    @Test("where the whole came in place of a part that the caller asked for, its rest is asked for, and nothing else")
    func wholeForPart() async throws {
        let scene = try SuspendScene()
        try await withTestCoordinator { configuration in
            configuration.suspendedConnectionLifetime = .milliseconds(50)
        } _: { coordinator in
            let (fetch, course) = try await scene.halfway(coordinator) { request in
                request.fields["Range"] = "bytes=0-"
                request.fields["If-Range"] = "\"earlier\""
            }
            try await scene.suspendForLong(fetch)
            fetch.resume()
            let result = await course.value
            #expect(result.response?.body.bytes == SuspendScene.content)
            #expect(scene.asked == [0, SuspendScene.half])
            let head = try #require(scene.origin.seen("/file").last?.head)
            let lines = String(decoding: head, as: UTF8.self).split(separator: "\r\n").filter { line in
                line.lowercased().hasPrefix("range:") || line.lowercased().hasPrefix("if-range:")
            }
            #expect(lines == ["Range: bytes=\(SuspendScene.half)-", "If-Range: \"one\""])
        }
    }
}

/// A pipe with a name, and what its reader has read of it.
private final class HalfReadPipe {
    private let reader: Int32
    private(set) var bytes: [UInt8] = []

    init(_ path: String) throws {
        try #require(mkfifo(path, 0o600) == 0)
        let reader = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        try #require(reader >= 0)
        self.reader = reader
    }

    deinit { close(reader) }

    /// Reads what is there.
    func read() {
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = Glibc.read(reader, &buffer, buffer.count)
            guard count > 0 else { return }
            bytes += buffer[..<count]
        }
    }
}
