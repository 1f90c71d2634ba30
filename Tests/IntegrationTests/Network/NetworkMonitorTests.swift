import Foundation
import Testing
import Trawl

@Suite(
    "Which way the network is, ASI-MISC-03", .enabled(if: NetworkNamespace.isAllowed, NetworkNamespace.missing),
    .timeLimit(.minutes(5)))
struct NetworkMonitorTests {
    /// A network, and a program in it that watches it.
    private struct Scene {
        let network: NetworkNamespace
        let directory: TemporaryDirectory

        init(_ arguments: [String] = []) throws {
            network = try NetworkNamespace()
            directory = try TemporaryDirectory()
            try network.run("mkfifo '\(directory.file("input"))'; exec 9<>'\(directory.file("input"))'")
            let words = ["'\(try BuiltProducts.product("HostProgram"))'", "network"] + arguments
            try network.run("\(words.joined(separator: " ")) <&9 >'\(directory.file("output"))' 2>&1 &")
        }

        var lines: [String] {
            String(decoding: directory.content("output") ?? [], as: UTF8.self).split(separator: "\n").map(String.init)
        }

        /// Whether the last line comes to be this one.
        func becomes(_ line: String, within limit: Duration = .seconds(30)) async -> Bool {
            await eventually(within: limit) { lines.last == line }
        }
    }

    @Test("it follows default routes and links of both families as they come and go")
    func routes() async throws {
        let scene = try Scene()
        #expect(await scene.becomes("none - -"))
        try scene.network.addLink("eth0", address: "10.9.9.2/24")
        try scene.network.run("ip link set eth0 up")
        // An address alone leads nowhere.
        try scene.network.run("ip route add default via 10.9.9.1")
        #expect(await scene.becomes("unmetered eth0 -"), "\(scene.lines)")
        try scene.network.run("ip link set eth0x down")
        #expect(await scene.becomes("none - -"), "without a carrier: \(scene.lines)")
        try scene.network.run("ip link set eth0x up")
        #expect(await scene.becomes("unmetered eth0 -"), "\(scene.lines)")
        try scene.network.run("ip addr add 2001:db8:9::2/64 dev eth0 nodad; ip -6 route add default via 2001:db8:9::1")
        #expect(await scene.becomes("unmetered eth0 eth0"), "\(scene.lines)")
        try scene.network.run("ip route del default")
        #expect(await scene.becomes("unmetered - eth0"), "\(scene.lines)")
        try scene.network.run("ip link set eth0 down")
        #expect(await scene.becomes("none - -"), "\(scene.lines)")
    }

    @Test("wwan and ppp are metered, also a link that gets such a name; what is more exact than a default route counts")
    func metered() async throws {
        let scene = try Scene()
        try scene.network.addLink("veth0", address: "10.9.9.2/24")
        try scene.network.run("ip link set veth0 up; ip route add default via 10.9.9.1")
        #expect(await scene.becomes("unmetered veth0 -"), "\(scene.lines)")
        try scene.network.run(
            "ip link set veth0 down; ip link set veth0 name wwan0; ip link set wwan0 up; ip route add default via 10.9.9.1"
        )
        #expect(await scene.becomes("metered wwan0 -"), "\(scene.lines)")
        // As tunnels do it, in front of the default route.
        try scene.network.addLink("tun0", address: "10.9.8.2/24")
        try scene.network.run(
            "ip link set tun0 up; ip route add 0.0.0.0/1 via 10.9.8.1; ip route add 128.0.0.0/1 via 10.9.8.1")
        #expect(await scene.becomes("unmetered tun0 -"), "\(scene.lines)")
        try scene.network.run("ip link del tun0")
        #expect(await scene.becomes("metered wwan0 -"), "\(scene.lines)")
        try scene.network.run("ip link set wwan0 down; ip link set wwan0 name ppp7; ip link set ppp7 up")
        try scene.network.run("ip route add default via 10.9.9.1")
        #expect(await scene.becomes("metered ppp7 -"), "\(scene.lines)")
    }

    @Test("a way that leads nowhere is none, where a probe says so, and a check probes again (AFC-18)")
    func probe() async throws {
        // Nobody listens there yet: the address is this network's own.
        let scene = try Scene(["10.9.9.2", "7"])
        try scene.network.addLink("eth0", address: "10.9.9.2/24")
        try scene.network.run("ip link set eth0 up; ip route add default via 10.9.9.1")
        #expect(await scene.becomes("none eth0 -"), "\(scene.lines)")
        try await listen(in: scene)
        #expect(await scene.becomes("unmetered eth0 -", within: .seconds(120)), "\(scene.lines)")
        // From here on nothing probes by itself.
        #expect(await eventually { taken(in: scene) == 1 })
        try scene.network.run("echo >&9")
        #expect(await eventually { taken(in: scene) == 2 })
        try scene.network.run("ip link set eth0 down")
        #expect(await scene.becomes("none - -"), "\(scene.lines)")
    }

    @Test("a probe that failed is made again by itself, also where the kernel tells of no change")
    func repeatedProbe() async throws {
        let scene = try Scene(["10.9.9.2", "7"])
        try scene.network.addLink("eth0", address: "10.9.9.2/24")
        try scene.network.run("ip link set eth0 up; ip route add default via 10.9.9.1")
        #expect(await scene.becomes("none eth0 -"), "\(scene.lines)")
        try await listen(in: scene)
        #expect(await scene.becomes("unmetered eth0 -", within: .seconds(120)), "\(scene.lines)")
    }

    /// Takes connections where probes go.
    private func listen(in scene: Scene) async throws {
        let listener = """
            import socket
            s = socket.create_server(("10.9.9.2", 7))
            print("ready", flush=True)
            while True:
                s.accept()[0].close()
                print("taken", flush=True)
            """
        try scene.network.start(
            try #require(RecordingOrigin.python), ["-c", listener], output: scene.directory.file("listener"))
        #expect(await eventually { taken(in: scene) != nil })
    }

    /// How many connections have been taken there; nil before any could be.
    private func taken(in scene: Scene) -> Int? {
        let lines = String(decoding: scene.directory.content("listener") ?? [], as: UTF8.self).split(separator: "\n")
        return lines.first == "ready" ? lines.count - 1 : nil
    }

    @Test("a burst of changes is told as what it came to")
    func burst() async throws {
        let scene = try Scene()
        try scene.network.addLink("eth0", address: "10.9.9.2/24")
        try scene.network.run("ip link set eth0 up")
        let (before, start) = (scene.lines.count, ContinuousClock.now)
        // One process makes them all.
        try scene.network.run(
            """
            {
                for i in $(seq 500); do echo route add default via 10.9.9.1; echo route del default; done
                echo route add default via 10.9.9.1
            } | ip -batch -
            """)
        #expect(await scene.becomes("unmetered eth0 -"), "\(scene.lines)")
        // It looks every 50 ms at most; what was seen before may be told only now.
        let looks = (ContinuousClock.now - start) / .milliseconds(50)
        #expect(Double(scene.lines.count - before) <= looks + 3, "\(scene.lines.count - before) after \(looks)")
    }
}
