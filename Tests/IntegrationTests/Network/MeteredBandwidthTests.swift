import Foundation
import Testing
import Trawl

@Suite(
    "Bandwidth on metered networks, ASI-THR-05", .enabled(if: NetworkNamespace.isAllowed, NetworkNamespace.missing),
    .timeLimit(.minutes(2)))
struct MeteredBandwidthTests {
    private static func url(_ size: Int) -> String { "http://\(NetworkScene.address):8080/size/\(size)" }
    private static let arguments = ["--limit-rate-metered", "40k", "-o", "/dev/null", "-w", "%{time_total}"]

    @Test("a limit holds while the way out is through wwan*, and not elsewhere", arguments: ["wwan0", "eth0"])
    func kind(interface: String) async throws {
        let scene = try NetworkScene()
        try scene.connect(interface)
        try scene.start("get", Self.arguments + [Self.url(80 << 10)])
        #expect(await scene.status("get") == 0)
        let seconds = try #require(Double(scene.text("get.out")))
        // The first bytes may come at once.
        #expect(interface == "wwan0" ? seconds > 1.2 : seconds < 1.2, "\(seconds) s")
    }

    @Test("what runs is no longer limited when the network is another one")
    func change() async throws {
        let scene = try NetworkScene()
        try scene.connect("wwan0")
        // Half a minute and more by the limit.
        try scene.start("get", Self.arguments + ["-m", "25", Self.url(2 << 20)])
        #expect(await scene.status("get", within: .milliseconds(1500)) == nil)
        try scene.network.addLink("eth0", address: "10.9.8.2/24")
        try scene.network.run("ip link set eth0 up && ip route replace default via 10.9.8.1")
        #expect(await scene.status("get") == 0)
    }
}
