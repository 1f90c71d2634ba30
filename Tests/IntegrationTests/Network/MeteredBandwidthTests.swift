import Foundation
import Testing
import Trawl

@Suite(
    "Bandwidth on metered networks, ASI-THR-05", .enabled(if: NetworkNamespace.isAllowed, NetworkNamespace.missing),
    .timeLimit(.minutes(5)))
struct MeteredBandwidthTests {
    private static func url(_ size: Int) -> String { "http://\(NetworkScene.address):8080/size/\(size)" }
    private static let arguments = ["-o", "/dev/null", "-w", "%{time_total}"]

    @Test("a limit holds while the way out is through wwan*, and not elsewhere", arguments: ["wwan0", "eth0"])
    func kind(interface: String) async throws {
        let scene = try NetworkScene()
        try scene.connect(interface)
        let isMetered = interface == "wwan0"
        // Two seconds by the limit that holds, and 80 by the one that does not.
        let limit = ["--limit-rate-metered", isMetered ? "40k" : "1k", "-m", "60"]
        try scene.start("get", Self.arguments + limit + [Self.url(80 << 10)])
        #expect(await scene.status("get") == 0)
        let seconds = try #require(Double(scene.text("get.out")))
        // The first bytes may come at once.
        if isMetered { #expect(seconds > 1.2) }
    }

    @Test("what runs is no longer limited when the network is another one")
    func change() async throws {
        let scene = try NetworkScene()
        try scene.connect("wwan0")
        // More than a minute and a half by the limit.
        let limit = ["--limit-rate-metered", "40k", "-m", "60"]
        try scene.start("get", Self.arguments + limit + [Self.url(4 << 20)])
        #expect(await scene.status("get", within: .milliseconds(1500)) == nil)
        try scene.network.addLink("eth0", address: "10.9.8.2/24")
        try scene.network.run("ip link set eth0 up && ip route replace default via 10.9.8.1")
        #expect(await scene.status("get") == 0)
    }
}
