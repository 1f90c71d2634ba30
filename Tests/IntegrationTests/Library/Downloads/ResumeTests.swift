import Foundation
import Testing
import Trawl

@Suite("Downloads that are gone on with, ULS-TASK-09, AFC-21", .timeLimit(.minutes(2)))
struct ResumeTests {
    @Test(
        "a failed download is gone on with, once written down and read (ASI-RES-07, ULS-LIFE-06, ULS-NDL-05)",
        arguments: Engine.allCases)
    func failed(engine: Engine) async throws {
        let origin = try ScriptedOrigin { ResumeScene.Site().answer($0) }
        defer { origin.stop() }
        let directory = try TemporaryDirectory()
        try await withTestCoordinator(workers: engine.workers) { coordinator in
            let path = directory.file("x")
            let (error, data) = await ResumeScene.broken(coordinator, origin.url("/a"), path)
            let kept = try #require(data, "\(String(describing: error))")
            #expect(error?.code == .truncated)
            #expect(kept.destination == path && kept.length == 400_000 && kept.validator == "\"one\"")
            #expect((1...UInt64(ResumeScene.half)).contains(kept.offset))
            let names1 = try directory.names()
            #expect(names1 == [URL(filePath: kept.partPath).lastPathComponent])

            let read = try JSONDecoder().decode(ResumeData.self, from: JSONEncoder().encode(kept))
            let course = await ResumeScene.follow(coordinator.start(resuming: read))
            #expect(course.words == ["started", "attempt 1", "head 206", "resumed at \(kept.offset)"])
            let response = try #require(course.response)
            #expect(response.status == 206 && response.receivedLength == 400_000 && response.file == path)
            #expect(directory.content("x") == ResumeScene.content)
            let names2 = try directory.names()
            #expect(names2 == ["x"])
        }
        let last = try #require(origin.seen().last)
        #expect(last.fields["if-range"] == "\"one\"")
        #expect(origin.seen().map { $0.fields["accept-encoding"] } == ["identity", "identity"])
    }

    @Test("user and password of the URL are given again with the request, and to no other origin (ASI-AUTH-01)")
    func userOfURL() async throws {
        let origin = try ScriptedOrigin { request in
            request.fields["authorization"] == ChallengingOrigin.basic("me", "p@w")
                ? ResumeScene.Site().answer(request) : ChallengingOrigin.challenge()
        }
        defer { origin.stop() }
        let directory = try TemporaryDirectory()
        var request = Request("http://me:p%40w@127.0.0.1:\(origin.port)/a")
        request.options.authentication.allowsClearText = true
        // Then it is sent at once.
        request.options.authentication.schemes = .basic
        let first = request
        let data: ResumeData = try await withTestCoordinator { coordinator in
            let destination = Destination.file(directory.file("x"), options: ResumeScene.keeping)
            let course = await ResumeScene.follow(coordinator.start(first, into: destination))
            return try #require(course.error?.resumeData, "\(course)")
        }
        #expect(data.url == origin.url("/a"))
        request.url = "http://me:p%40w@127.0.0.1:1/a"
        request.options.authentication.whenRefused = .delivers
        let other = request
        // Another coordinator has another session.
        try await withTestCoordinator { coordinator in
            let refused = try await coordinator.start(resuming: data, as: other).response
            #expect(refused.status == 401 && refused.file == nil)
            #expect(origin.seen().map { $0.fields["authorization"] != nil } == [true, false])
            let response = try await coordinator.start(resuming: data, as: first).response
            #expect(response.status == 206 && response.url == data.url)
            #expect(directory.content("x") == ResumeScene.content)
        }
    }

    @Test("a paused download is gone on with (ULS-LIFE-10)")
    func paused() async throws {
        let occasion = Occasion()
        let origin = try ScriptedOrigin { ResumeScene.Site(waits: occasion).answer($0) }
        defer {
            occasion.open()
            origin.stop()
        }
        let directory = try TemporaryDirectory()
        try await withTestCoordinator { coordinator in
            let fetch = coordinator.start(
                Request(origin.url("/a")), into: .file(directory.file("x"), options: ResumeScene.keeping))
            for await event in fetch.events {
                if case .progress(let progress) = event, progress.decoded == ResumeScene.half { break }
            }
            let data = try #require(await fetch.pause())
            #expect(data.offset > 0)
            let response = try await coordinator.start(resuming: data).response
            #expect(response.status == 206 && directory.content("x") == ResumeScene.content)
            // What is over cannot be paused.
            #expect(await fetch.pause() == data)
            #expect(await coordinator.start(Request(origin.url("/a"))).pause() == nil)
        }
    }

    @Test("further attempts of a fetch ask for the rest (ASI-RES-06)")
    func retried() async throws {
        let origin = try ScriptedOrigin { ResumeScene.Site().answer($0) }
        defer { origin.stop() }
        let directory = try TemporaryDirectory()
        try await withTestCoordinator { coordinator in
            var request = Request(origin.url("/a"))
            request.options.retry = .init(1)
            request.options.retry.delay = .milliseconds(10)
            let response = try await coordinator.send(
                request, into: .file(directory.file("x"), options: ResumeScene.keeping))
            #expect(response.status == 206 && response.retryCount == 1 && response.receivedLength == 400_000)
            #expect(directory.content("x") == ResumeScene.content)
            let names3 = try directory.names()
            #expect(names3 == ["x"])
        }
        #expect(origin.seen().map { $0.fields["range"] != nil } == [false, true])
    }

    @Test("a further attempt after one that stood still asks for the rest", arguments: [false, true])
    func retriedAfterTime(isWhole: Bool) async throws {
        let gate = Occasion()
        let origin = try ScriptedOrigin { ResumeScene.Site(waits: gate).answer($0) }
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
                request.options.timeLimits.exchange = .seconds(4)
            } else {
                request.options.timeLimits.inactivity = .seconds(3)
            }
            let response = try await coordinator.send(
                request, into: .file(directory.file("x"), options: ResumeScene.keeping))
            #expect(response.status == 206 && response.retryCount == 1)
            #expect(directory.content("x") == ResumeScene.content)
        }
        #expect(origin.seen().map { $0.fields["range"] != nil } == [false, true])
    }

    @Test("without a tag a date goes along, and another date begins anew", arguments: [false, true])
    func dated(isChanged: Bool) async throws {
        let first = ScriptedOrigin.date(secondsFromNow: -7200)
        let second = isChanged ? ScriptedOrigin.date(secondsFromNow: -3600) : first
        let origin = try ScriptedOrigin { request in
            ResumeScene.Site(tag: nil, modified: request.number == 1 ? first : second).answer(request)
        }
        defer { origin.stop() }
        let directory = try TemporaryDirectory()
        try await withTestCoordinator { coordinator in
            let (_, data) = await ResumeScene.broken(coordinator, origin.url("/a"), directory.file("x"))
            let response = try await coordinator.start(resuming: try #require(data)).response
            #expect(response.status == (isChanged ? 200 : 206) && directory.content("x") == ResumeScene.content)
        }
        #expect(origin.seen().map { $0.fields["if-range"] } == [nil, first])
    }

    @Test(
        "what is another one by now begins anew, and so does what cannot be put together (ASI-RES-02, 03)",
        arguments: 0..<6)
    func mismatch(kind: Int) async throws {
        let other = ReferenceBytes.bytes(150_000, seed: 9)
        let origin = try ScriptedOrigin { request in
            if request.number == 1 { return ResumeScene.Site().answer(request) }
            switch kind {
            // Another representation.
            case 0: return ResumeScene.Site(content: other, tag: "\"two\"").answer(request)
            // No ranges any more.
            case 1: return ResumeScene.Site(content: other, tag: "\"two\"", ranges: nil).answer(request)
            // Another place than was asked for.
            case 2:
                return ResumeScene.Site(content: other) { _ in .init(206, "xx", [("Content-Range", "bytes 0-1/2")]) }
                    .answer(request)
            // Another representation, and If-Range was overlooked.
            case 3:
                return ResumeScene.Site(content: other) { request in
                    let first = Int(request.fields["range"]?.dropFirst(6).dropLast() ?? "") ?? 0
                    return .init(
                        206, "x", [("Content-Range", "bytes \(first)-\(first)/\(first + 1)"), ("ETag", "\"two\"")])
                }.answer(request)
            // A body that is not as long as its range, and longer than any file.
            case 4:
                return ResumeScene.Site(content: other) { request in
                    let first = Int(request.fields["range"]?.dropFirst(6).dropLast() ?? "") ?? 0
                    var answer = ScriptedOrigin.Answer(
                        206, "x", [("Content-Range", "bytes \(first)-399999/400000"), ("ETag", "\"one\"")])
                    answer.announced = .max
                    return answer
                }.answer(request)
            // Nothing behind what is there.
            default: return ResumeScene.Site(content: other) { _ in .init(416) }.answer(request)
            }
        }
        defer { origin.stop() }
        let directory = try TemporaryDirectory()
        try await withTestCoordinator { coordinator in
            let (_, data) = await ResumeScene.broken(coordinator, origin.url("/a"), directory.file("x"))
            let fetch = coordinator.start(resuming: try #require(data))
            let course = await ResumeScene.follow(fetch)
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

    @Test("an error status leaves what is there, and so does a server that is away")
    func errors() async throws {
        let isAway = Locked(false)
        let origin = try ScriptedOrigin { request in
            if isAway.withLock({ $0 }) { return .nothing }
            return request.number == 2 ? .init(503, "later") : ResumeScene.Site().answer(request)
        }
        defer { origin.stop() }
        let directory = try TemporaryDirectory()
        try await withTestCoordinator { coordinator in
            let (_, first) = await ResumeScene.broken(coordinator, origin.url("/a"), directory.file("x"))
            let data = try #require(first)
            let busy = try await coordinator.start(resuming: data).response
            let text = try busy.text()
            #expect(busy.status == 503 && text == "later")
            isAway.withLock { $0 = true }
            let away = await ResumeScene.follow(coordinator.start(resuming: data))
            isAway.withLock { $0 = false }
            #expect(away.error?.code == .connectionLost && away.error?.resumeData == data)
            let response = try await coordinator.start(resuming: data).response
            #expect(response.status == 206 && directory.content("x") == ResumeScene.content)
        }
    }

    @Test(
        "without a strong validator, with ranges refused or a coding there is nothing to go on with, and nothing stays",
        arguments: [
            ResumeScene.Site(tag: nil), ResumeScene.Site(tag: "W/\"weak\""), ResumeScene.Site(ranges: "none"),
            ResumeScene.Site(ranges: nil),
            ResumeScene.Site(fields: [("Content-Encoding", "gzip")]),
        ])
    private func impossible(site: ResumeScene.Site) async throws {
        let origin = try ScriptedOrigin { site.answer($0) }
        defer { origin.stop() }
        let directory = try TemporaryDirectory()
        try await withTestCoordinator { coordinator in
            let (error, data) = await ResumeScene.broken(coordinator, origin.url("/a"), directory.file("x"))
            #expect(error != nil && data == nil)
            let names5 = try directory.names()
            #expect(names5 == [])
            // Nor where it is not wanted.
            let course = await ResumeScene.follow(
                coordinator.start(Request(origin.url("/b")), into: .file(directory.file("y"))))
            #expect(course.error != nil && course.error?.resumeData == nil)
            let names6 = try directory.names()
            #expect(names6 == [])
        }
    }

    @Test("resume data that does not go with what is there fails the fetch, and touches nothing")
    func damaged() async throws {
        let origin = try ScriptedOrigin { ResumeScene.Site().answer($0) }
        defer { origin.stop() }
        let directory = try TemporaryDirectory()
        try directory.put("precious", [1, 2, 3])
        try await withTestCoordinator { coordinator in
            let (_, first) = await ResumeScene.broken(coordinator, origin.url("/a"), directory.file("x"))
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
                let course = await ResumeScene.follow(coordinator.start(resuming: data))
                #expect(course.error?.code == .resumeData, "\(data): \(String(describing: course.error))")
            }
            var asking = Request(good.url)
            asking.fields["Range"] = "bytes=0-1"
            let refused = await ResumeScene.follow(coordinator.start(resuming: good, as: asking))
            #expect(refused.error?.code == .badRequest)
            let response = try await coordinator.start(resuming: good).response
            #expect(response.status == 206 && directory.content("x") == ResumeScene.content)
        }
        #expect(directory.content("precious") == [1, 2, 3])
    }

    @Test("nginx", .enabled(if: NginxServer.executable != nil, NginxServer.missing), arguments: [true, false])
    func nginx(hasRanges: Bool) async throws {
        let server = try await NginxServer { port, directory in
            try directory.put("big", ResumeScene.content)
            return """
                http {
                    access_log off;
                    # Slow until it is paused.
                    map $http_range $rate { "" 60k; default 0; }
                    server {
                        listen 127.0.0.1:\(port); root \(directory.path);
                        \(hasRanges ? "" : "max_ranges 0;") limit_rate $rate;
                    }
                }
                """
        }
        defer { server.stop() }
        let directory = try TemporaryDirectory()
        try await withTestCoordinator { coordinator in
            let fetch = coordinator.start(
                Request("http://127.0.0.1:\(server.port)/big"),
                into: .file(directory.file("x"), options: ResumeScene.keeping))
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
            #expect(response.status == 206 && directory.content("x") == ResumeScene.content)
        }
    }
}
