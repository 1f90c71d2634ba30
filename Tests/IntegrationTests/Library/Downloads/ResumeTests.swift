import Foundation
import Testing
import Trawl

@Suite("Downloads that are gone on with, ULS-TASK-09, AFC-21", .timeLimit(.minutes(2)))
struct ResumeTests {
    private static let content = ReferenceBytes.bytes(400_000, seed: 5)
    private static let half = 250_000

    /// What the origin has, and how it behaves.
    private struct Site: Sendable {
        var content = ResumeTests.content
        var tag: String? = "\"one\""
        /// The value of Last-Modified.
        var modified: String?
        var ranges: String? = "bytes"
        var fields: [(String, String)] = []
        /// Whether the first response breaks off; else it waits for this.
        var waits: Occasion?
        /// Answers to what asks for a part, in place of the right ones.
        var other: (@Sendable (ScriptedOrigin.Seen) -> ScriptedOrigin.Answer?)?

        func answer(_ request: ScriptedOrigin.Seen) -> ScriptedOrigin.Answer {
            if let other, request.fields["range"] != nil, let answer = other(request) { return answer }
            var answer = ScriptedOrigin.Answer(200)
            answer.fields = fields + (ranges.map { [("Accept-Ranges", $0)] } ?? []) + (tag.map { [("ETag", $0)] } ?? [])
            if let modified { answer.fields.append(("Last-Modified", modified)) }
            if let range = request.fields["range"], request.fields["if-range"] == tag ?? modified,
                let first = Int(range.dropFirst(6).dropLast())
            {
                guard first < content.count else {
                    return ScriptedOrigin.Answer(416, "", [("Content-Range", "bytes */\(content.count)")])
                }
                answer.status = 206
                answer.fields.append(("Content-Range", "bytes \(first)-\(content.count - 1)/\(content.count)"))
                answer.body = Array(content[first...])
            } else if request.number == 1 {
                answer.body = Array(content[..<ResumeTests.half])
                if let waits {
                    answer.rest = (Array(content[ResumeTests.half...]), waits)
                } else {
                    answer.announced = content.count
                }
            } else {
                answer.body = content
            }
            return answer
        }
    }

    private static var keeping: Destination.FileOptions {
        var options = Destination.FileOptions()
        options.keepsPart = true
        return options
    }

    private struct Course {
        var words: [String] = []
        var response: Response?
        var error: FetchError?
    }

    private static func follow(_ fetch: Fetch) async -> Course {
        var course = Course()
        for await event in fetch.events {
            switch event {
            case .progress: break
            case .ended(.success(let response)): course.response = response
            case .ended(.failure(let error)): course.error = error
            default: course.words.append(word(event))
            }
        }
        return course
    }

    /// Fetches until it breaks off, and returns what that leaves.
    private static func broken(
        _ coordinator: Coordinator, _ url: String, _ path: String
    ) async -> (FetchError?, ResumeData?) {
        let course = await follow(coordinator.start(Request(url), into: .file(path, options: keeping)))
        return (course.error, course.error?.resumeData)
    }

    @Test(
        "a failed download is gone on with, once written down and read (ASI-RES-07, ULS-LIFE-06, ULS-NDL-05)",
        arguments: Engine.allCases)
    func failed(engine: Engine) async throws {
        let origin = try ScriptedOrigin { Site().answer($0) }
        defer { origin.stop() }
        let directory = try TemporaryDirectory()
        try await withTestCoordinator(workers: engine.workers) { coordinator in
            let path = directory.file("x")
            let (error, data) = await Self.broken(coordinator, origin.url("/a"), path)
            let kept = try #require(data, "\(String(describing: error))")
            #expect(error?.code == .truncated)
            #expect(kept.destination == path && kept.length == 400_000 && kept.validator == "\"one\"")
            #expect((1...UInt64(Self.half)).contains(kept.offset))
            let names1 = try directory.names()
            #expect(names1 == [URL(filePath: kept.partPath).lastPathComponent])

            let read = try JSONDecoder().decode(ResumeData.self, from: JSONEncoder().encode(kept))
            let course = await Self.follow(coordinator.start(resuming: read))
            #expect(course.words == ["started", "attempt 1", "head 206", "resumed at \(kept.offset)"])
            let response = try #require(course.response)
            #expect(response.status == 206 && response.receivedLength == 400_000 && response.file == path)
            #expect(directory.content("x") == Self.content)
            let names2 = try directory.names()
            #expect(names2 == ["x"])
        }
        let last = try #require(origin.seen().last)
        #expect(last.fields["if-range"] == "\"one\"")
        #expect(origin.seen().map { $0.fields["accept-encoding"] } == ["identity", "identity"])
    }

    @Test("a paused download is gone on with (ULS-LIFE-10)")
    func paused() async throws {
        let occasion = Occasion()
        let origin = try ScriptedOrigin { Site(waits: occasion).answer($0) }
        defer {
            occasion.open()
            origin.stop()
        }
        let directory = try TemporaryDirectory()
        try await withTestCoordinator { coordinator in
            let fetch = coordinator.start(
                Request(origin.url("/a")), into: .file(directory.file("x"), options: Self.keeping))
            for await event in fetch.events {
                if case .progress(let progress) = event, progress.decoded == Self.half { break }
            }
            let data = try #require(await fetch.pause())
            #expect(data.offset > 0)
            let response = try await coordinator.start(resuming: data).response
            #expect(response.status == 206 && directory.content("x") == Self.content)
            // What is over cannot be paused.
            #expect(await fetch.pause() == data)
            #expect(await coordinator.start(Request(origin.url("/a"))).pause() == nil)
        }
    }

    @Test("further attempts of a fetch ask for the rest (ASI-RES-06)")
    func retried() async throws {
        let origin = try ScriptedOrigin { Site().answer($0) }
        defer { origin.stop() }
        let directory = try TemporaryDirectory()
        try await withTestCoordinator { coordinator in
            var request = Request(origin.url("/a"))
            request.options.retry = .init(1)
            request.options.retry.delay = .milliseconds(10)
            let response = try await coordinator.send(
                request, into: .file(directory.file("x"), options: Self.keeping))
            #expect(response.status == 206 && response.retryCount == 1 && response.receivedLength == 400_000)
            #expect(directory.content("x") == Self.content)
            let names3 = try directory.names()
            #expect(names3 == ["x"])
        }
        #expect(origin.seen().map { $0.fields["range"] != nil } == [false, true])
    }

    @Test("a further attempt after one that stood still asks for the rest", arguments: [false, true])
    func retriedAfterTime(isWhole: Bool) async throws {
        let gate = Occasion()
        let origin = try ScriptedOrigin { Site(waits: gate).answer($0) }
        defer {
            gate.open()
            origin.stop()
        }
        let directory = try TemporaryDirectory()
        try await withTestCoordinator { coordinator in
            var request = Request(origin.url("/a"))
            request.options.retry = .init(1)
            request.options.retry.delay = .milliseconds(10)
            if isWhole {
                request.options.timeLimits.exchange = .seconds(2)
            } else {
                request.options.timeLimits.inactivity = .seconds(1)
            }
            let response = try await coordinator.send(
                request, into: .file(directory.file("x"), options: Self.keeping))
            #expect(response.status == 206 && response.retryCount == 1)
            #expect(directory.content("x") == Self.content)
        }
        #expect(origin.seen().map { $0.fields["range"] != nil } == [false, true])
    }

    @Test("without a tag a date goes along, and another date begins anew", arguments: [false, true])
    func dated(isChanged: Bool) async throws {
        let first = ScriptedOrigin.date(secondsFromNow: -7200)
        let second = isChanged ? ScriptedOrigin.date(secondsFromNow: -3600) : first
        let origin = try ScriptedOrigin { request in
            Site(tag: nil, modified: request.number == 1 ? first : second).answer(request)
        }
        defer { origin.stop() }
        let directory = try TemporaryDirectory()
        try await withTestCoordinator { coordinator in
            let (_, data) = await Self.broken(coordinator, origin.url("/a"), directory.file("x"))
            let response = try await coordinator.start(resuming: try #require(data)).response
            #expect(response.status == (isChanged ? 200 : 206) && directory.content("x") == Self.content)
        }
        #expect(origin.seen().map { $0.fields["if-range"] } == [nil, first])
    }

    @Test(
        "what is another one by now begins anew, and so does what cannot be put together (ASI-RES-02, 03)",
        arguments: 0..<6)
    func mismatch(kind: Int) async throws {
        let other = ReferenceBytes.bytes(150_000, seed: 9)
        let origin = try ScriptedOrigin { request in
            if request.number == 1 { return Site().answer(request) }
            switch kind {
            // Another representation.
            case 0: return Site(content: other, tag: "\"two\"").answer(request)
            // No ranges any more.
            case 1: return Site(content: other, tag: "\"two\"", ranges: nil).answer(request)
            // Another place than was asked for.
            case 2:
                return Site(content: other) { _ in .init(206, "xx", [("Content-Range", "bytes 0-1/2")]) }
                    .answer(request)
            // Another representation, and If-Range was overlooked.
            case 3:
                return Site(content: other) { request in
                    let first = Int(request.fields["range"]?.dropFirst(6).dropLast() ?? "") ?? 0
                    return .init(
                        206, "x", [("Content-Range", "bytes \(first)-\(first)/\(first + 1)"), ("ETag", "\"two\"")])
                }.answer(request)
            // A body that is not as long as its range, and longer than any file.
            case 4:
                return Site(content: other) { request in
                    let first = Int(request.fields["range"]?.dropFirst(6).dropLast() ?? "") ?? 0
                    var answer = ScriptedOrigin.Answer(
                        206, "x", [("Content-Range", "bytes \(first)-399999/400000"), ("ETag", "\"one\"")])
                    answer.announced = .max
                    return answer
                }.answer(request)
            // Nothing behind what is there.
            default: return Site(content: other) { _ in .init(416) }.answer(request)
            }
        }
        defer { origin.stop() }
        let directory = try TemporaryDirectory()
        try await withTestCoordinator { coordinator in
            let (_, data) = await Self.broken(coordinator, origin.url("/a"), directory.file("x"))
            let fetch = coordinator.start(resuming: try #require(data))
            let course = await Self.follow(fetch)
            let response = try #require(course.response, "\(course)")
            #expect(response.status == 200 && response.receivedLength == 150_000)
            // What was there counts no more.
            if kind < 2 { #expect(fetch.currentProgress.download.completed == 150_000) }
            #expect(!course.words.contains { $0.hasPrefix("resumed") })
            #expect(directory.content("x") == other)
            let names4 = try directory.names()
            #expect(names4 == ["x"])
        }
    }

    @Test(
        "a rest that ends before its range does is broken off, however its end is told",
        arguments: [ScriptedOrigin.Framing.close, .chunked])
    func shortRest(framing: ScriptedOrigin.Framing) async throws {
        let origin = try ScriptedOrigin { request in
            var answer = Site().answer(request)
            if request.number == 2 {
                answer.body.removeLast(50_000)
                answer.framing = framing
            }
            return answer
        }
        defer { origin.stop() }
        let directory = try TemporaryDirectory()
        try await withTestCoordinator { coordinator in
            let (_, first) = await Self.broken(coordinator, origin.url("/a"), directory.file("x"))
            let data = try #require(first)
            let course = await Self.follow(coordinator.start(resuming: data))
            #expect(course.error?.code == .truncated, "\(course)")
            let again = try #require(course.error?.resumeData)
            #expect(again.offset >= data.offset && again.partPath == data.partPath)
            #expect(directory.content("x") == nil)
            let response = try await coordinator.start(resuming: again).response
            #expect(response.status == 206 && directory.content("x") == Self.content)
        }
    }

    @Test("a rest that goes on behind its range is none")
    func longRest() async throws {
        let origin = try ScriptedOrigin { request in
            var answer = Site().answer(request)
            if request.number == 2 {
                answer.body += Array("more".utf8)
                answer.framing = .close
            }
            return answer
        }
        defer { origin.stop() }
        let directory = try TemporaryDirectory()
        try await withTestCoordinator { coordinator in
            let (_, first) = await Self.broken(coordinator, origin.url("/a"), directory.file("x"))
            let course = await Self.follow(coordinator.start(resuming: try #require(first)))
            #expect(course.error?.code == .protocolViolation, "\(course)")
            #expect(directory.content("x") == nil)
            let again = try #require(course.error?.resumeData)
            _ = try await coordinator.start(resuming: again).response
            #expect(directory.content("x") == Self.content)
        }
    }

    @Test("a file that begins anew has another name: what was said of it before leads nowhere")
    func newName() async throws {
        let other = ReferenceBytes.bytes(400_000, seed: 9)
        let gate = Occasion()
        let origin = try ScriptedOrigin { request in
            if request.number == 1 { return Site().answer(request) }
            var answer = Site(content: other, tag: "\"two\"").answer(request)
            if request.number == 2 {
                answer.body = Array(other[..<ResumeTests.half])
                answer.rest = (Array(other[ResumeTests.half...]), gate)
            }
            return answer
        }
        defer {
            gate.open()
            origin.stop()
        }
        let directory = try TemporaryDirectory()
        try await withTestCoordinator { coordinator in
            let (_, first) = await Self.broken(coordinator, origin.url("/a"), directory.file("x"))
            let data = try #require(first)
            let fetch = coordinator.start(resuming: data)
            for await event in fetch.events {
                if case .progress(let progress) = event, progress.decoded == Self.half { break }
            }
            #expect(!FileManager.default.fileExists(atPath: data.partPath))
            let next = try #require(await fetch.pause())
            #expect(next.partPath != data.partPath && next.validator == "\"two\"")
            let stale = await Self.follow(coordinator.start(resuming: data))
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
            guard request.number == 1 else { return Site().answer(request) }
            var answer = ScriptedOrigin.Answer()
            answer.raw = Array(head.utf8) + Self.content[..<Self.half]
            return answer
        }
        defer { origin.stop() }
        let directory = try TemporaryDirectory()
        try await withTestCoordinator { coordinator in
            let (_, first) = await Self.broken(coordinator, origin.url("/a"), directory.file("x"))
            let data = try #require(first)
            #expect(data.length == nil)
            for (limit, isEnough) in [(399_999, false), (400_000, true)] as [(Int, Bool)] {
                var request = Request(origin.url("/a"))
                request.options.sizeLimits.bodyBytes = UInt64(limit)
                let course = await Self.follow(coordinator.start(resuming: data, as: request))
                #expect(course.error?.code == (isEnough ? nil : .tooLarge), "\(course)")
                #expect((directory.content("x") == Self.content) == isEnough)
            }
        }
    }

    @Test("a whole whose name was taken meanwhile is kept")
    func taken() async throws {
        let gate = Occasion()
        let origin = try ScriptedOrigin { Site(waits: gate).answer($0) }
        defer {
            gate.open()
            origin.stop()
        }
        let directory = try TemporaryDirectory()
        try await withTestCoordinator { coordinator in
            var options = Self.keeping
            options.replaces = false
            let fetch = coordinator.start(
                Request(origin.url("/a")), into: .file(directory.file("x"), options: options))
            for await event in fetch.events {
                if case .progress(let progress) = event, progress.decoded == Self.half { break }
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
            #expect(kept == Self.content)
            // Nothing is left to ask for: it begins anew.
            let response = try await coordinator.start(resuming: data).response
            #expect(response.status == 200 && directory.content("x") == Self.content)
        }
    }

    @Test("an error status leaves what is there, and so does a server that is away")
    func errors() async throws {
        let isAway = Locked(false)
        let origin = try ScriptedOrigin { request in
            if isAway.withLock({ $0 }) { return .nothing }
            return request.number == 2 ? .init(503, "later") : Site().answer(request)
        }
        defer { origin.stop() }
        let directory = try TemporaryDirectory()
        try await withTestCoordinator { coordinator in
            let (_, first) = await Self.broken(coordinator, origin.url("/a"), directory.file("x"))
            let data = try #require(first)
            let busy = try await coordinator.start(resuming: data).response
            let text = try busy.text()
            #expect(busy.status == 503 && text == "later")
            isAway.withLock { $0 = true }
            let away = await Self.follow(coordinator.start(resuming: data))
            isAway.withLock { $0 = false }
            #expect(away.error?.code == .connectionLost && away.error?.resumeData == data)
            let response = try await coordinator.start(resuming: data).response
            #expect(response.status == 206 && directory.content("x") == Self.content)
        }
    }

    @Test(
        "another answer is not put behind what is there, whatever its status",
        arguments: [201, 202, 204, 226, 404, 503])
    func otherAnswers(status: Int) async throws {
        let body = status == 204 ? "" : "later"
        let origin = try ScriptedOrigin { request in
            request.number == 2 ? .init(status, body) : Site().answer(request)
        }
        defer { origin.stop() }
        let directory = try TemporaryDirectory()
        try await withTestCoordinator { coordinator in
            let (_, first) = await Self.broken(coordinator, origin.url("/a"), directory.file("x"))
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
            #expect(response.status == 206 && directory.content("x") == Self.content)
        }
    }

    @Test("the page of an error that follows a part in the same fetch is no file, and the part goes")
    func errorAfterPart() async throws {
        let origin = try ScriptedOrigin { request in
            request.number == 2 ? .init(503, "later") : Site().answer(request)
        }
        defer { origin.stop() }
        let directory = try TemporaryDirectory()
        try await withTestCoordinator { coordinator in
            var request = Request(origin.url("/a"))
            request.options.retry = .init(1)
            request.options.retry.delay = .milliseconds(10)
            var options = Self.keeping
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
            request.number == 2 ? .init(203, "changed") : Site().answer(request)
        }
        defer { origin.stop() }
        let directory = try TemporaryDirectory()
        try await withTestCoordinator { coordinator in
            let (_, first) = await Self.broken(coordinator, origin.url("/a"), directory.file("x"))
            let response = try await coordinator.start(resuming: try #require(first)).response
            #expect(response.status == 203 && response.receivedLength == 7)
            #expect(directory.content("x") == Array("changed".utf8))
            let names10 = try directory.names()
            #expect(names10 == ["x"])
        }
    }

    @Test(
        "without a strong validator, with ranges refused or a coding there is nothing to go on with, and nothing stays",
        arguments: [
            Site(tag: nil), Site(tag: "W/\"weak\""), Site(ranges: "none"), Site(ranges: nil),
            Site(fields: [("Content-Encoding", "gzip")]),
        ])
    private func impossible(site: Site) async throws {
        let origin = try ScriptedOrigin { site.answer($0) }
        defer { origin.stop() }
        let directory = try TemporaryDirectory()
        try await withTestCoordinator { coordinator in
            let (error, data) = await Self.broken(coordinator, origin.url("/a"), directory.file("x"))
            #expect(error != nil && data == nil)
            let names5 = try directory.names()
            #expect(names5 == [])
            // Nor where it is not wanted.
            let course = await Self.follow(
                coordinator.start(Request(origin.url("/b")), into: .file(directory.file("y"))))
            #expect(course.error != nil && course.error?.resumeData == nil)
            let names6 = try directory.names()
            #expect(names6 == [])
        }
    }

    @Test("resume data that does not go with what is there fails the fetch, and touches nothing")
    func damaged() async throws {
        let origin = try ScriptedOrigin { Site().answer($0) }
        defer { origin.stop() }
        let directory = try TemporaryDirectory()
        try directory.put("precious", [1, 2, 3])
        try await withTestCoordinator { coordinator in
            let (_, first) = await Self.broken(coordinator, origin.url("/a"), directory.file("x"))
            let good = try #require(first)
            func with(
                destination: String? = nil, part: String? = nil, offset: UInt64? = nil, length: UInt64? = nil,
                validator: String? = nil
            ) -> ResumeData {
                ResumeData(
                    url: good.url, destination: destination ?? good.destination, partPath: part ?? good.partPath,
                    offset: offset ?? good.offset, length: length ?? good.length,
                    validator: validator ?? good.validator)
            }
            for data in [
                with(part: directory.file("precious")), with(part: directory.file(".x.aaaaaaaaaaaaa.partial")),
                with(part: ""), with(part: "/etc/passwd"), with(part: "\0"), with(offset: 0), with(offset: 399_999),
                with(offset: .max), with(length: 1), with(validator: ""), with(validator: "W/\"one\""),
                with(validator: "\"one\"\r\nX: y"), with(destination: "/elsewhere/x"),
            ] {
                let course = await Self.follow(coordinator.start(resuming: data))
                #expect(course.error?.code == .resumeData, "\(data): \(String(describing: course.error))")
            }
            var asking = Request(good.url)
            asking.fields["Range"] = "bytes=0-1"
            let refused = await Self.follow(coordinator.start(resuming: good, as: asking))
            #expect(refused.error?.code == .badRequest)
            let response = try await coordinator.start(resuming: good).response
            #expect(response.status == 206 && directory.content("x") == Self.content)
        }
        #expect(directory.content("precious") == [1, 2, 3])
    }

    @Test("nginx", .enabled(if: NginxServer.executable != nil, NginxServer.missing), arguments: [true, false])
    func nginx(hasRanges: Bool) async throws {
        let server = try await NginxServer { port, directory in
            try directory.put("big", Self.content)
            return """
                http {
                    access_log off;
                    server {
                        listen 127.0.0.1:\(port); root \(directory.path);
                        \(hasRanges ? "" : "max_ranges 0;") limit_rate 300k;
                    }
                }
                """
        }
        defer { server.stop() }
        let directory = try TemporaryDirectory()
        try await withTestCoordinator { coordinator in
            let fetch = coordinator.start(
                Request("http://127.0.0.1:\(server.port)/big"),
                into: .file(directory.file("x"), options: Self.keeping))
            for await event in fetch.events {
                if case .progress(let progress) = event, progress.decoded > 70_000 { break }
            }
            let data = await fetch.pause()
            #expect((data != nil) == hasRanges)
            guard let data else {
                let names7 = try directory.names()
                #expect(names7 == [])
                return
            }
            let response = try await coordinator.start(resuming: data).response
            #expect(response.status == 206 && directory.content("x") == Self.content)
        }
    }
}
