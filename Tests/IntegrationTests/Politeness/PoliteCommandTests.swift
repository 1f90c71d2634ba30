import Foundation
import Testing

/// `--wait`, `--retry` and what goes with them.
@Suite("The commands spare hosts and try again", .serialized, .timeLimit(.minutes(3)))
struct PoliteCommandTests {
    @Test("--wait keeps requests to a host apart, in batch and get")
    func wait() async throws {
        let bed = try BatchBed()
        try await withOrigin(addresses: 2) { origin in
            try bed.putList((0..<8).map { origin.url("/bytes/9?\($0)", address: 1 + $0 % 2) })
            let run = try bed.run(["--wait", "0.2~0.05", "--workers", "4"])
            #expect(run.status == 0, "\(run.errors)")
            let log = try origin.log(prefix: "/bytes")
            #expect(log.count == 8 && HostLimitTests.shortestGap(in: log) >= 200)
            let get = try CommandRun(["--wait", "0.3", origin.url("/delay/0"), origin.url("/delay/1")])
            #expect(get.status == 0)
            #expect(HostLimitTests.shortestGap(in: try origin.log(prefix: "/delay")) >= 300)
        }
    }

    @Test(
        "values that make no sense are refused in the option's name",
        arguments: [
            ["--wait", "-1"], ["--wait", "1~"], ["--wait", "~1"], ["--wait", "1s"], ["--wait", "1~2~3"],
            ["--retry", "-1"],
            ["--retry", "1001"], ["--retry-delay", "x"], ["--retry-max-time", "1e3"], ["--retry-after-max", "forever"],
        ])
    func nonsense(arguments: [String]) throws {
        for command in ["get", "batch", "pipe"] {
            let run = try CommandRun([command] + arguments + (command == "get" ? ["http://127.0.0.1:1/"] : []))
            #expect(run.status == 2 && run.errors.contains(arguments[0]), "\(command): \(run.errors)")
        }
    }

    @Test("a refused connection is tried again with --retry-connrefused alone, and -v tells of it")
    func refused() throws {
        let plain = try CommandRun(["-v", "--retry", "2", "--retry-delay", "0.05", "http://127.0.0.1:1/"])
        #expect(plain.status == 7 && !plain.errors.contains("* Attempt"), "\(plain.errors)")
        let again = try CommandRun(
            ["-v", "--retry", "2", "--retry-delay", "0.05", "--retry-connrefused", "http://127.0.0.1:1/"])
        #expect(again.status == 7 && again.errors.components(separatedBy: "* Attempt").count == 3, "\(again.errors)")
    }

    @Test("--retry-max-time ends it, and --retry-all-errors with -f takes every status")
    func limits() async throws {
        try await withOrigin { origin in
            let late = try CommandRun(
                ["--retry", "5", "--retry-max-time", "20", origin.url("/status/503?field=Retry-After:%2030")])
            #expect(late.status == 0)
            #expect(try origin.log(prefix: "/status/503").count == 1)
            let all = try CommandRun(
                ["-f", "--retry", "2", "--retry-delay", "0.02", "--retry-all-errors", origin.url("/status/404")])
            #expect(all.status == 22)
            #expect(try origin.log(prefix: "/status/404").count == 3)
        }
    }

    @Test("pipe tries again when it is told to, and does not wait for Retry-After otherwise")
    func pipe() async throws {
        let origin = try ScriptedOrigin { request in
            request.number < 2
                ? .init(503, "no", [("Retry-After", request.target == "/far" ? "500" : "0")]) : .init(200)
        }
        defer { origin.stop() }
        let plain = try PipeProcess()
        await plain.write([#"{"id":1,"url":"\#(origin.url("/far"))"}"#], ends: false)
        #expect(await plain.next()?.status == 503)
        await plain.write([#"{"id":2,"url":"\#(origin.url("/far"))"}"#], ends: true)
        #expect(await plain.next()?.status == 200)
        let trying = try PipeProcess(["--retry", "2"])
        await trying.write([#"{"id":1,"url":"\#(origin.url("/near"))"}"#], ends: true)
        #expect(await trying.next()?.status == 200)
    }

    @Test("pipe follows a redirect with Retry-After at once, unless --retry-after-max says otherwise")
    func pipeRedirect() async throws {
        let origin = try ScriptedOrigin { request in
            request.target == "/from" ? .init(302, "", [("Location", "/to"), ("Retry-After", "500")]) : .init(200)
        }
        defer { origin.stop() }
        let line = #"{"url":"\#(origin.url("/from"))"}"#
        let plain = try PipeProcess(["--no-cache"])
        await plain.write([line], ends: true)
        #expect(await plain.next()?.status == 200)
        let waiting = try PipeProcess(["--no-cache", "--retry-after-max", "1"])
        let start = ContinuousClock.now
        await waiting.write([line], ends: true)
        #expect(await waiting.next()?.status == 200)
        #expect(ContinuousClock.now - start >= .seconds(1))
    }

    @Test("very many hosts to which nothing can be sent fail one by one")
    func manyHosts() throws {
        let bed = try BatchBed()
        try bed.putList((0..<6000).map { "http://host\($0).test/" })
        // RFC 7617 §2: a user with a colon cannot be said.
        let run = try CommandRun([
            "batch", bed.list, "--no-files", "--results", bed.results, "--workers", "2", "-j", "600", "-x",
            "http://a%3Ab:c@127.0.0.1:9",
        ])
        #expect(!run.wasSignalled, "\(run.errors.suffix(500))")
        #expect(bed.recordCount() == 6000)
    }
}
