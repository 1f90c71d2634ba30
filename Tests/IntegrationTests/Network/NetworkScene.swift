import Foundation
import TestSupport
import Testing

/// A network without a way out, with servers at addresses it does not have yet, and the command in it.
struct NetworkScene {
    static let address = "10.9.9.2"
    let network: NetworkNamespace
    let directory: TemporaryDirectory
    /// The servers of HTTP and DNS.
    private let log: String

    /// - Parameters:
    ///   - names: What the DNS server knows, with their addresses, and with none those that it never answers; all other
    ///     names do not exist. `40~10.9.9.2` is the address of one that does not exist for forty questions.
    ///   - patience: How long the C library waits for it: options of resolv.conf(5).
    init(names: [String: String] = [:], patience: String = "timeout:10 attempts:1") throws {
        network = try NetworkNamespace()
        directory = try TemporaryDirectory()
        log = directory.file("queries")
        let script = Checkout.path("Tests/NetworkScene/servers.py")
        try directory.put("resolv.conf", Array("nameserver \(Self.address)\noptions \(patience)\n".utf8))
        let file = directory.file("resolv.conf")
        try network.run("mount --bind \(file.shellWord) \"$(readlink -f /etc/resolv.conf)\"")
        try network.start(
            try #require(RecordingOrigin.python), [script, log] + names.map { "\($0.key)=\($0.value)" },
            output: directory.file("servers"))
        let ready = Array("ready\n".utf8)
        for _ in 0..<9000 {
            if directory.content("servers") == ready { break }
            usleep(10_000)
        }
        try #require(directory.content("servers") == ready)
    }

    /// Gives the network its address and a way out through an interface.
    func connect(_ interface: String = "eth0") throws {
        try network.addLink(interface, address: "\(Self.address)/24")
        try network.run("ip link set \(interface) up && ip route add default via 10.9.9.1")
    }

    /// Starts the command; its output, errors and status are in files of the name given.
    func start(_ name: String, _ arguments: [String], input: String = "/dev/null") throws {
        let words = ([try BuiltProducts.trawl()] + arguments).map { "'\($0)'" }.joined(separator: " ")
        let file = directory.file(name)
        try network.run("{ \(words) <'\(input)' >'\(file).out' 2>'\(file).err'; echo $? >'\(file).status'; } &")
    }

    /// The exit status of a command that was started; nil when it does not end in time.
    func status(_ name: String, within limit: Duration = .seconds(90)) async -> Int? {
        var status: Int?
        _ = await eventually(within: limit) {
            status = Int(text(name + ".status").trimmingCharacters(in: .whitespacesAndNewlines))
            return status != nil
        }
        return status
    }

    func text(_ name: String) -> String { String(decoding: directory.content(name) ?? [], as: UTF8.self) }

    /// The names the DNS server was asked for, once for each question, in their order.
    var queries: [String] { text("queries").split(separator: "\n").map(String.init) }
}
