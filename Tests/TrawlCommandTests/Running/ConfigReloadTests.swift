import Foundation
import Testing
import Trawl

@testable import TrawlCommand

@Suite("Options read again, -K and SIGHUP")
struct ConfigReloadTests {
    private static let tenK = BandwidthLimit(10 << 10)

    @Test("the limit is what the files and the arguments beside them say now")
    func limit() throws {
        let directory = try ScratchDirectory()
        let file = directory.path + "/config"
        func put(_ text: String) throws { try Data(text.utf8).write(to: URL(fileURLWithPath: file)) }
        try put("silent\n")
        let reload = try #require(ConfigReload(["batch", "-K", file, "list"]))
        #expect(try reload.limit() == .none)
        try put("limit-rate = 10k\n")
        #expect(try reload.limit() == Self.tenK)
        // What stands later on the command line counts, as at the start.
        let fixed = try #require(ConfigReload(["batch", "-sK\(file)", "--limit-rate", "1M", "list"]))
        #expect(try fixed.limit() == BandwidthLimit(1 << 20))
        #expect(try #require(ConfigReload(["pipe", "--config=\(file)"])).limit() == Self.tenK)
        #expect(try #require(ConfigReload(["-K", file, "http://h/"])).limit() == Self.tenK)
        for mistake in ["limit-rate = 10x\n", "limit-rate\n", "no-such-option\n", "limit-rate = \"1\n"] {
            try put(mistake)
            #expect(throws: CommandError.self) { try reload.limit() }
        }
        try put("--form\n---planted\n")
        let refused = #expect(throws: CommandError.self) { try reload.limit() }
        #expect(refused?.message.contains("planted") == false, "\(refused?.message ?? "")")
        try FileManager.default.removeItem(atPath: file)
        #expect(throws: CommandError.self) { try reload.limit() }
    }

    @Test("without a file that can be read again there is nothing to do")
    func none() {
        for arguments in [
            ["batch", "list"], ["batch", "-K", "-", "list"], ["batch", "-K", "/dev/null", "list"],
            ["batch", "-K", "/no/such/file", "list"], ["batch", "-o", "-K", "list"], ["batch", "-K"], [],
        ] {
            #expect(ConfigReload(arguments) == nil, "\(arguments)")
        }
    }
}
