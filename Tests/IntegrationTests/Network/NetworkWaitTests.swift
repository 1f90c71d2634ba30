import Foundation
import Testing
import Trawl

@Suite(
    "Waiting for the network, ASI-RTY-04", .enabled(if: NetworkNamespace.isAllowed, NetworkNamespace.missing),
    .timeLimit(.minutes(5)))
struct NetworkWaitTests {
    private static let url = "http://\(NetworkScene.address):8080/"

    @Test("a fetch without a network fails at once, and with the option waits for it, once told")
    func get() async throws {
        let scene = try NetworkScene()
        try scene.start("hasty", [Self.url])
        #expect(await scene.status("hasty") == 7)
        try scene.start("patient", ["--wait-for-network", "0", "-m", "4", "--retry", "1", Self.url])
        #expect(await eventually { scene.text("patient.err").contains("waiting for it") })
        // What is neither a way out nor to that host changes nothing.
        try scene.network.addLink("other", address: "10.9.7.2/24")
        try scene.network.run("ip link set other up")
        #expect(await scene.status("patient", within: .milliseconds(4200)) == nil)
        try scene.connect()
        #expect(await scene.status("patient") == 0)
        #expect(scene.text("patient.out") == "hello\n")
        #expect(scene.text("patient.err").components(separatedBy: "waiting for it").count == 2)
    }

    @Test("a name that cannot be resolved for want of a network is resolved when it is there; a dead one fails then")
    func names() async throws {
        let scene = try NetworkScene(names: ["there.test": NetworkScene.address])
        try scene.start("there", ["--wait-for-network", "60", "http://there.test:8080/"])
        try scene.start("dead", ["--wait-for-network", "60", "http://dead.test:8080/"])
        for name in ["there", "dead"] {
            #expect(await eventually { scene.text("\(name).err").contains("waiting for it") })
        }
        try scene.connect()
        #expect(await scene.status("there") == 0)
        // A little later than the network itself: names come after routes.
        #expect(await scene.status("dead") == 6)
    }

    @Test("a name that is not there for a moment when the network comes back fails none of those that waited")
    func lateName() async throws {
        let scene = try NetworkScene(names: ["late.test": "40~\(NetworkScene.address)"])
        let lines = (0..<20).map { "http://late.test:8080/\($0)\n" }.joined()
        try scene.directory.put("list", Array(lines.utf8))
        let socket = scene.directory.file("socket")
        try scene.start(
            "batch",
            [
                "batch", scene.directory.file("list"), "--no-files", "--results", scene.directory.file("results"),
                "--wait-for-network", "60", "--no-cache", "--status-socket", socket,
            ])
        #expect(
            await eventually {
                let status = try? CommandRun(["status", "--json", socket])
                return status?.text.contains(#""waiting_for_network":20"#) == true
            })
        try scene.connect()
        #expect(await scene.status("batch") == 0, "\(scene.text("batch.err"))")
        let records = scene.text("results").split(separator: "\n")
        #expect(records.count == 20 && records.allSatisfy { $0.contains(#""ok":true"#) }, "\(records)")
        #expect(scene.queries.count > 40)
    }

    @Test("after the wait the first of several proxies is tried first again")
    func proxies() async throws {
        let scene = try NetworkScene()
        // Nobody listens at the second.
        let ways = "PROXY \(NetworkScene.address):8080; PROXY \(NetworkScene.address):9"
        try scene.directory.put("p.pac", Array("function FindProxyForURL() { return '\(ways)'; }".utf8))
        try scene.start(
            "proxied", ["--wait-for-network", "0", "--pac", scene.directory.file("p.pac"), "http://10.9.9.3/"])
        #expect(await eventually { scene.text("proxied.err").contains("waiting for it") })
        try scene.connect()
        #expect(await scene.status("proxied") == 0, "\(scene.text("proxied.err"))")
        #expect(scene.text("proxied.out") == "hello\n")
    }

    @Test("-w is about what followed the wait")
    func writeOut() async throws {
        let scene = try NetworkScene()
        let format = "%{num_redirects} %{time_redirect} %{num_connects}"
        try scene.start("told", ["--wait-for-network", "0", "--no-cache", "-w", format, Self.url])
        #expect(await eventually { scene.text("told.err").contains("waiting for it") })
        try scene.connect()
        #expect(await scene.status("told") == 0)
        #expect(scene.text("told.out") == "hello\n0 0.000000 1")
    }

    @Test("a fetch that is to come from an address waits until that is there")
    func interface() async throws {
        let scene = try NetworkScene()
        try scene.start("bound", ["--wait-for-network", "0", "--interface", NetworkScene.address, Self.url])
        #expect(await eventually { scene.text("bound.err").contains("waiting for it") })
        try scene.connect()
        #expect(await scene.status("bound") == 0)
    }

    @Test("it waits so long and no longer, and hosts of this machine never do")
    func limits() async throws {
        let scene = try NetworkScene()
        try scene.start("short", ["--wait-for-network", "0.5", Self.url])
        try scene.start("here", ["--wait-for-network", "0", "http://127.0.0.1:9/", "http://localhost:8080/"])
        #expect(await scene.status("short") == 7)
        #expect(scene.text("short.err").contains("waiting for it"))
        #expect(await scene.status("here") == 1)
        #expect(scene.text("here.out") == "hello\n" && !scene.text("here.err").contains("waiting for it"))
    }

    @Test("a batch waits too, and a network that goes away in its course comes back")
    func batch() async throws {
        let scene = try NetworkScene()
        try scene.connect()
        // Five seconds, in which the network goes away.
        let list = (0..<100).map { "\(Self.url)\($0)\n" }.joined()
        try scene.directory.put("list", Array(list.utf8))
        try scene.start(
            "batch",
            [
                "batch", scene.directory.file("list"), "--out", scene.directory.file("files"), "--results",
                scene.directory.file("results"), "--wait-for-network", "60", "--no-cache", "--wait", "0.05",
            ])
        func records() -> [Substring] { scene.text("results").split(separator: "\n") }
        #expect(await eventually { records().count > 10 })
        try scene.network.run("ip link del eth0")
        #expect(await eventually { scene.text("batch.status").isEmpty && records().count < 100 })
        try scene.connect("wwan0")
        #expect(await scene.status("batch") == 0)
        #expect(records().count == 100 && records().allSatisfy { $0.contains(#""ok":true"#) })
        // Whether a fetch meets the time without a network is chance; it is told once, however many do.
        for words in ["there is no network; waiting for it", "the network is back"] {
            #expect(scene.text("batch.err").components(separatedBy: words).count <= 2, "\(scene.text("batch.err"))")
        }
    }

    @Test("a pipe says once that its fetches wait, and its status how many; and once that the network is back")
    func pipe() async throws {
        let scene = try NetworkScene()
        let lines = (0..<20).map { #"{"id":\#($0),"url":"\#(Self.url)\#($0)"}"# + "\n" }.joined()
        try scene.directory.put("requests", Array(lines.utf8))
        let socket = scene.directory.file("socket")
        try scene.start(
            "pipe", ["pipe", "--wait-for-network", "60", "--no-cache", "--status-socket", socket],
            input: scene.directory.file("requests"))
        #expect(
            await eventually {
                let status = try? CommandRun(["status", "--json", socket])
                return status?.text.contains(#""waiting_for_network":20"#) == true
            })
        try scene.connect()
        #expect(await scene.status("pipe") == 0)
        #expect(scene.text("pipe.out").components(separatedBy: #""status":200"#).count == 21)
        #expect(
            scene.text("pipe.err") == "trawl: there is no network; waiting for it\ntrawl: the network is back\n")
    }

    @Test("a request that would wait while its run ends is left to the next run")
    func ending() async throws {
        // Its lookup is under way when the run is stopped and the network goes away.
        let scene = try NetworkScene(names: ["silent.test": ""], patience: "timeout:7 attempts:1")
        try scene.connect()
        try scene.directory.put("list", Array("http://silent.test:8080/\n".utf8))
        try scene.start(
            "batch",
            [
                "batch", scene.directory.file("list"), "--no-files", "--results", scene.directory.file("results"),
                "--wait-for-network", "60", "--no-cache",
            ])
        #expect(await eventually { !scene.queries.isEmpty })
        try scene.network.run("kill -TERM $(pgrep -x trawl | head -1) && ip link del eth0")
        #expect(await scene.status("batch") == 75, "\(scene.text("batch.err"))")
        #expect(scene.text("results").isEmpty)
    }

    @Test("time in which the run stood still is no waiting")
    func stoodStill() async throws {
        let scene = try NetworkScene()
        try scene.start("stood", ["--wait-for-network", "6", Self.url])
        let waits = await eventually { scene.text("stood.err").contains("waiting for it") }
        #expect(waits)
        try scene.network.run("kill -STOP $(pgrep -x trawl | head -1)")
        // Longer than it waits; there is a network by the time it goes on.
        try await Task.sleep(for: .seconds(7))
        try scene.connect()
        try scene.network.run("kill -CONT $(pgrep -x trawl | head -1)")
        #expect(await scene.status("stood") == 0)
        #expect(scene.text("stood.out") == "hello\n")
    }

    @Test("a fetch that waits can be stopped")
    func stopped() async throws {
        let scene = try NetworkScene()
        try scene.start("cancelled", ["--wait-for-network", "0", Self.url])
        #expect(await eventually { scene.text("cancelled.err").contains("waiting for it") })
        try scene.network.run("kill -TERM $(pgrep -x trawl | head -1)")
        let status = await scene.status("cancelled")
        #expect(status != nil && status != 0)
    }
}
