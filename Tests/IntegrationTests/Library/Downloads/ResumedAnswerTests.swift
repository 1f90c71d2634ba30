import Foundation
import Testing
import Trawl

@Suite("What downloads make of answers to requests for the rest", .timeLimit(.minutes(2)))
struct ResumedAnswerTests {
    @Test(
        "a rest that ends before its range does is broken off, however its end is told",
        arguments: [ScriptedOrigin.Framing.close, .chunked])
    func shortRest(framing: ScriptedOrigin.Framing) async throws {
        let origin = try ScriptedOrigin { request in
            var answer = ResumeScene.Site().answer(request)
            if request.number == 2 {
                answer.body.removeLast(50_000)
                answer.framing = framing
            }
            return answer
        }
        defer { origin.stop() }
        let directory = try TemporaryDirectory()
        try await withTestCoordinator { coordinator in
            let (_, first) = await ResumeScene.broken(coordinator, origin.url("/a"), directory.file("x"))
            let data = try #require(first)
            let course = await ResumeScene.follow(coordinator.start(resuming: data))
            #expect(course.error?.code == .truncated, "\(course)")
            let again = try #require(course.error?.resumeData)
            #expect(again.offset >= data.offset && again.partPath == data.partPath)
            #expect(directory.content("x") == nil)
            let response = try await coordinator.start(resuming: again).response
            #expect(response.status == 206 && directory.content("x") == ResumeScene.content)
        }
    }

    @Test("a rest that goes on behind its range is none")
    func longRest() async throws {
        let origin = try ScriptedOrigin { request in
            var answer = ResumeScene.Site().answer(request)
            if request.number == 2 {
                answer.body += Array("more".utf8)
                answer.framing = .close
            }
            return answer
        }
        defer { origin.stop() }
        let directory = try TemporaryDirectory()
        try await withTestCoordinator { coordinator in
            let (_, first) = await ResumeScene.broken(coordinator, origin.url("/a"), directory.file("x"))
            let course = await ResumeScene.follow(coordinator.start(resuming: try #require(first)))
            #expect(course.error?.code == .protocolViolation, "\(course)")
            #expect(directory.content("x") == nil)
            let again = try #require(course.error?.resumeData)
            _ = try await coordinator.start(resuming: again).response
            #expect(directory.content("x") == ResumeScene.content)
        }
    }

    @Test(
        "another answer is not put behind what is there, whatever its status",
        arguments: [201, 202, 204, 226, 404, 503])
    func otherAnswers(status: Int) async throws {
        let body = status == 204 ? "" : "later"
        let origin = try ScriptedOrigin { request in
            request.number == 2 ? .init(status, body) : ResumeScene.Site().answer(request)
        }
        defer { origin.stop() }
        let directory = try TemporaryDirectory()
        try await withTestCoordinator { coordinator in
            let (_, first) = await ResumeScene.broken(coordinator, origin.url("/a"), directory.file("x"))
            let data = try #require(first)
            var options = Destination.FileOptions()
            options.savesErrorBodies = true
            options.createsEmptyFile = true
            let other = try await coordinator.start(resuming: data, options: options).response
            let text = try other.text()
            #expect(other.status == status && text == body && other.file == nil)
            #expect(other.receivedLength == UInt64(body.utf8.count))
            let names8 = try directory.names()
            #expect(names8 == [URL(filePath: data.partPath).lastPathComponent])
            let response = try await coordinator.start(resuming: data).response
            #expect(response.status == 206 && directory.content("x") == ResumeScene.content)
        }
    }

    @Test("the page of an error that follows a part in the same fetch is no file, and the part goes")
    func errorAfterPart() async throws {
        let origin = try ScriptedOrigin { request in
            request.number == 2 ? .init(503, "later") : ResumeScene.Site().answer(request)
        }
        defer { origin.stop() }
        let directory = try TemporaryDirectory()
        try await withTestCoordinator { coordinator in
            var request = Request(origin.url("/a"))
            request.options.retry = .init(1)
            request.options.retry.delay = .milliseconds(10)
            var options = ResumeScene.keeping
            options.savesErrorBodies = true
            let response = try await coordinator.send(request, into: .file(directory.file("x"), options: options))
            let text = try response.text()
            #expect(response.status == 503 && text == "later" && response.file == nil)
            // Nobody could go on with the part.
            let names9 = try directory.names()
            #expect(names9 == [])
        }
    }

    @Test("a whole that a proxy has changed takes the place of what is there")
    func transformed() async throws {
        let origin = try ScriptedOrigin { request in
            request.number == 2 ? .init(203, "changed") : ResumeScene.Site().answer(request)
        }
        defer { origin.stop() }
        let directory = try TemporaryDirectory()
        try await withTestCoordinator { coordinator in
            let (_, first) = await ResumeScene.broken(coordinator, origin.url("/a"), directory.file("x"))
            let response = try await coordinator.start(resuming: try #require(first)).response
            #expect(response.status == 203 && response.receivedLength == 7)
            #expect(directory.content("x") == Array("changed".utf8))
            let names10 = try directory.names()
            #expect(names10 == ["x"])
        }
    }

    @Test("a file that begins anew has another name: what was said of it before leads nowhere")
    func newName() async throws {
        let other = ReferenceBytes.bytes(400_000, seed: 9)
        let gate = Occasion()
        let origin = try ScriptedOrigin { request in
            if request.number == 1 { return ResumeScene.Site().answer(request) }
            var answer = ResumeScene.Site(content: other, tag: "\"two\"").answer(request)
            if request.number == 2 {
                answer.body = Array(other[..<ResumeScene.half])
                answer.rest = (Array(other[ResumeScene.half...]), gate)
            }
            return answer
        }
        defer {
            gate.open()
            origin.stop()
        }
        let directory = try TemporaryDirectory()
        try await withTestCoordinator { coordinator in
            let (_, first) = await ResumeScene.broken(coordinator, origin.url("/a"), directory.file("x"))
            let data = try #require(first)
            let fetch = coordinator.start(resuming: data)
            for await event in fetch.events {
                if case .progress(let progress) = event, progress.decoded == ResumeScene.half { break }
            }
            #expect(!FileManager.default.fileExists(atPath: data.partPath))
            let next = try #require(await fetch.pause())
            #expect(next.partPath != data.partPath && next.validator == "\"two\"")
            let stale = await ResumeScene.follow(coordinator.start(resuming: data))
            #expect(stale.error?.code == .resumeData)
            let response = try await coordinator.start(resuming: next).response
            #expect(response.status == 206 && directory.content("x") == other)
        }
    }

    @Test("the limit of a body counts what came before")
    func limited() async throws {
        // Nobody says before the rest how long the whole is: the connection ends within a chunk.
        let fields = "ETag: \"one\"\r\nAccept-Ranges: bytes\r\nTransfer-Encoding: chunked\r\n"
        let head = "HTTP/1.1 200 OK\r\n\(fields)\r\n61a80\r\n"
        let origin = try ScriptedOrigin { request in
            guard request.number == 1 else { return ResumeScene.Site().answer(request) }
            var answer = ScriptedOrigin.Answer()
            answer.raw = Array(head.utf8) + ResumeScene.content[..<ResumeScene.half]
            return answer
        }
        defer { origin.stop() }
        let directory = try TemporaryDirectory()
        try await withTestCoordinator { coordinator in
            let (_, first) = await ResumeScene.broken(coordinator, origin.url("/a"), directory.file("x"))
            let data = try #require(first)
            #expect(data.length == nil)
            for (limit, isEnough) in [(399_999, false), (400_000, true)] as [(Int, Bool)] {
                var request = Request(origin.url("/a"))
                request.options.sizeLimits.bodyBytes = UInt64(limit)
                let course = await ResumeScene.follow(coordinator.start(resuming: data, as: request))
                #expect(course.error?.code == (isEnough ? nil : .tooLarge), "\(course)")
                #expect((directory.content("x") == ResumeScene.content) == isEnough)
            }
        }
    }

    @Test("a whole whose name was taken meanwhile is kept")
    func taken() async throws {
        let gate = Occasion()
        let origin = try ScriptedOrigin { ResumeScene.Site(waits: gate).answer($0) }
        defer {
            gate.open()
            origin.stop()
        }
        let directory = try TemporaryDirectory()
        try await withTestCoordinator { coordinator in
            var options = ResumeScene.keeping
            options.replaces = false
            let fetch = coordinator.start(
                Request(origin.url("/a")), into: .file(directory.file("x"), options: options))
            for await event in fetch.events {
                if case .progress(let progress) = event, progress.decoded == ResumeScene.half { break }
            }
            try directory.put("x", [1])
            gate.open()
            var failure: FetchError?
            do throws(FetchError) {
                _ = try await fetch.response
            } catch {
                failure = error
            }
            let data = try #require(failure?.resumeData, "\(String(describing: failure))")
            #expect(failure?.code == .file && data.offset == 400_000)
            #expect(directory.content("x") == [1])
            let kept = FileManager.default.contents(atPath: data.partPath).map { [UInt8]($0) }
            #expect(kept == ResumeScene.content)
            // Nothing is left to ask for: it begins anew.
            let response = try await coordinator.start(resuming: data).response
            #expect(response.status == 200 && directory.content("x") == ResumeScene.content)
        }
    }

    @Test("what is kept goes with what its own response said, and with no earlier one's")
    func ownValidator() async throws {
        // So little is in no file yet when it breaks off. After it comes a whole that cannot be gone on with.
        let origin = try ScriptedOrigin { request in
            var answer = ResumeScene.Site().answer(request)
            answer.status = request.number == 1 ? 200 : 203
            answer.body = Array(answer.body[..<(request.number == 1 ? 1000 : ResumeScene.half)])
            answer.announced = 400_000
            return answer
        }
        defer { origin.stop() }
        let directory = try TemporaryDirectory()
        try await withTestCoordinator { coordinator in
            var request = Request(origin.url("/a"))
            request.options.retry = .init(1)
            request.options.retry.delay = .milliseconds(10)
            let course = await ResumeScene.follow(
                coordinator.start(request, into: .file(directory.file("x"), options: ResumeScene.keeping)))
            #expect(course.error?.code == .truncated && course.error?.resumeData == nil)
            let names = try directory.names()
            #expect(names == [])
        }
        #expect(origin.seen().map { $0.fields["range"] } == [nil, nil])
    }
}
