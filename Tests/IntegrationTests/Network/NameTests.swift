import Foundation
import Testing
import Trawl

@Suite(
    "How often names are asked for", .enabled(if: NetworkNamespace.isAllowed, NetworkNamespace.missing),
    .timeLimit(.minutes(5)))
struct NameTests {
    private static func list(_ scene: NetworkScene, _ hosts: [String], count: Int) throws -> String {
        let lines = (0..<count).flatMap { number in hosts.map { "http://\($0):8080/\(number)\n" } }
        try scene.directory.put("list", Array(lines.joined().utf8))
        return scene.directory.file("list")
    }

    private static func batch(_ scene: NetworkScene, _ list: String, _ more: [String] = []) -> [String] {
        ["batch", list, "--no-files", "--results", scene.directory.file("results"), "--no-cache", "--workers", "4"]
            + more
    }

    /// How many seconds there have been since a time. A dead name is remembered for five of them: a run that takes long
    /// asks for it again.
    private static func seconds(since start: ContinuousClock.Instant) -> Double {
        (ContinuousClock.now - start) / .seconds(1)
    }

    @Test("a thousand URLs of a dead name cost a few questions, and all fail the same way")
    func dead() async throws {
        let scene = try NetworkScene()
        try scene.connect()
        let start = ContinuousClock.now
        try scene.start("batch", Self.batch(scene, try Self.list(scene, ["dead.test"], count: 1000)))
        #expect(await scene.status("batch") == 1)
        let most = Int(16 * (1 + Self.seconds(since: start) / 5))
        // As many as may be asked at the same time, which is before the first is told: 8. The C library asks for a name
        // that is not there twice, the second time in an empty domain.
        #expect((1...most).contains(scene.queries.count), "\(scene.queries)")
        let records = scene.text("results").split(separator: "\n")
        #expect(records.count == 1000)
        let message = #""error":{"code":"dns","message":"Could not resolve host: dead.test"#
        #expect(records.allSatisfy { $0.contains(message) })
    }

    @Test("the first of them is remembered: what is told of the network at the beginning is no change")
    func first() async throws {
        let scene = try NetworkScene()
        try scene.connect()
        let list = try Self.list(scene, ["dead.test"], count: 20)
        let start = ContinuousClock.now
        try scene.start("batch", Self.batch(scene, list, ["--per-host", "1"]))
        #expect(await scene.status("batch") == 1)
        let most = Int(2 * (1 + Self.seconds(since: start) / 5))
        #expect((1...most).contains(scene.queries.count), "\(scene.queries)")
        #expect(scene.text("results").split(separator: "\n").count == 20)
    }

    @Test("those who try again ask, one a second")
    func retries() async throws {
        let scene = try NetworkScene()
        try scene.connect()
        let start = ContinuousClock.now
        try scene.start(
            "batch",
            Self.batch(
                scene, try Self.list(scene, ["dead.test"], count: 200), ["--retry", "2", "--retry-delay", "1.2"]))
        #expect(await scene.status("batch") == 1)
        let seconds = Self.seconds(since: start)
        // The first attempts as above, and two questions each second.
        let most = Int(16 * (1 + seconds / 5) + 2 * (1 + seconds))
        #expect((3...most).contains(scene.queries.count), "\(scene.queries)")
        let records = scene.text("results").split(separator: "\n")
        #expect(records.count == 200 && records.allSatisfy { $0.contains(#""attempts":3"#) })
    }

    @Test("by address, names are looked up before their requests are queued, and a dead one fails the same way")
    func byAddress() async throws {
        let scene = try NetworkScene(names: ["a.test": NetworkScene.address, "b.test": NetworkScene.address])
        try scene.connect()
        let list = try Self.list(scene, ["a.test", "dead.test", "b.test"], count: 100)
        let start = ContinuousClock.now
        try scene.start("batch", Self.batch(scene, list, ["--per-address", "--per-host", "2"]))
        #expect(await scene.status("batch") == 1)
        let most = Int(2 * (2 + Self.seconds(since: start) / 5))
        let records = scene.text("results").split(separator: "\n")
        #expect(records.filter { $0.contains(#""ok":true"#) }.count == 200)
        let message = #""error":{"code":"dns","message":"Could not resolve host: dead.test"#
        #expect(records.filter { $0.contains(message) }.count == 100)
        // All that are read before it is answered wait for one question.
        #expect((1...most).contains(scene.queries.filter { $0 == "dead.test" }.count), "\(scene.queries)")
    }

    @Test("a name that is there is asked for a few times by each worker, and a dead one beside it changes nothing")
    func living() async throws {
        let scene = try NetworkScene(names: ["there.test": NetworkScene.address])
        try scene.connect()
        try scene.start(
            "batch", Self.batch(scene, try Self.list(scene, ["there.test", "dead.test"], count: 500)))
        #expect(await scene.status("batch") == 1)
        let records = scene.text("results").split(separator: "\n")
        #expect(records.filter { $0.contains(#""ok":true"#) }.count == 500)
        let there = scene.queries.filter { $0 == "there.test" }.count
        #expect((1...32).contains(there), "\(scene.queries)")
    }

    /// A name of which nothing is heard, and a C library that waits for it for two minutes and a half.
    private static func silentScene() throws -> NetworkScene {
        let scene = try NetworkScene(names: ["silent.test": ""], patience: "timeout:30 attempts:5")
        try scene.connect()
        return scene
    }

    @Test(
        "a fetch whose time is up while its name is looked up ends then, whatever the resolver does",
        arguments: ["--connect-timeout", "-m"])
    func overdue(limit: String) async throws {
        let scene = try Self.silentScene()
        try scene.start("get", [limit, "4", "http://silent.test:8080/"])
        #expect(await scene.status("get", within: .seconds(90)) == 28)
        let isAsked = await eventually { scene.queries.first == "silent.test" }
        #expect(isAsked)
    }

    @Test("a lookup that is given up holds up nothing else of its worker")
    func abandoned() async throws {
        let scene = try Self.silentScene()
        // Some of the others begin behind the end of the first: they wait for one another.
        let urls = ["http://silent.test:8080/"] + (0..<20).map { "http://\(NetworkScene.address):8080/\($0)" }
        try scene.directory.put("list", Array((urls.joined(separator: "\n") + "\n").utf8))
        try scene.start(
            "batch",
            [
                "batch", scene.directory.file("list"), "--no-files", "--results", scene.directory.file("results"),
                "--no-cache", "--workers", "1", "--wait", "0.3", "--connect-timeout", "5",
            ])
        #expect(await scene.status("batch") == 1)
        let records = scene.text("results").split(separator: "\n")
        #expect(records.filter { $0.contains(#""ok":true"#) }.count == 20)
        #expect(records.filter { $0.contains(#""error":{"code":"timeout""#) }.count == 1)
    }
}
