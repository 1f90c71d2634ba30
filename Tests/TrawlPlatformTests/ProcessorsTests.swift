import Glibc
import Testing

@testable import TrawlPlatform

@Suite("The processors that a process may use")
struct ProcessorsTests {
    @Test("are those it may run on")
    func allowed() throws {
        let status = try #require(SystemFile.read("/proc/thread-self/status"))
        let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("Cpus_allowed_list:") })
        let bound = Self.numbers(line.dropFirst("Cpus_allowed_list:".count))
        // The list may have more than there are.
        let online = Self.numbers(try #require(SystemFile.read("/sys/devices/system/cpu/online"))[...])
        let count = bound.intersection(online).count
        #expect(count > 0 && Processors.allowed == count)
        #expect(Processors.usable >= 1)
    }

    /// Those of a list such as `0-3,8`.
    private static func numbers(_ list: Substring) -> Set<Int> {
        var numbers: Set<Int> = []
        for part in list.split(whereSeparator: { $0 == "," || $0.isWhitespace }) {
            let ends = part.split(separator: "-").compactMap { Int($0) }
            if let first = ends.first, let last = ends.last, first <= last { numbers.formUnion(first...last) }
        }
        return numbers
    }

    @Test("are no more than there is time for, rounded up")
    func quota() {
        let quotas: [(String, Int?)] = [
            ("max 100000\n", nil), ("100000 100000\n", 1), ("50000 100000\n", 1), ("150000 100000\n", 2),
            ("400000 100000\n", 4), ("", nil), ("100000\n", nil), ("0 0\n", nil), ("-1 100000\n", nil),
        ]
        for (text, count) in quotas { #expect(Processors.quota(text) == count, "\(text)") }
    }

    @Test("a control group is that of version 2")
    func group() {
        #expect(ControlGroup.path("12:cpu:/a\n0::/system.slice/x.service\n") == "/system.slice/x.service")
        #expect(ControlGroup.path("0::/\n") == "/")
        #expect(ControlGroup.path("12:cpu:/a\n1:name=systemd:/\n") == nil)
        #expect(ControlGroup.path("") == nil)
    }
}
