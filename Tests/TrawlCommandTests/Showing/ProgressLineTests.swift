import Foundation
import Testing

@testable import TrawlCommand

@Suite("The progress line")
struct ProgressLineTests {
    private let single = ProgressLine.Single(name: "a\u{1b}[2J.iso", received: 512 << 20, expected: 1 << 30)
    private let many = ProgressLine.Many(done: 5, failed: 1, total: 20, bytes: 10 << 20)

    @Test("one URL: name, bytes, bar, share, rate, rest")
    func one() {
        #expect(
            ProgressLine.text(single, rate: 1_048_576, width: 200)
                == "a\\u{1b}[2J.iso  512M/1.0G  [##########..........]  50%  1.0M/s  ETA 8:32")
    }

    @Test("without a length there is no bar")
    func unknownLength() {
        let single = ProgressLine.Single(name: "x", received: 10, expected: nil)
        #expect(ProgressLine.text(single, rate: 0, width: 200) == "x  10B  0B/s")
    }

    @Test("a list: done, failed, bytes, rate, rest")
    func list() {
        #expect(
            ProgressLine.text(many, rate: 2_097_152, fetchRate: 3, width: 200, hasBar: false)
                == "5/20  1 failed  10.0M  2.0M/s  ETA 0:05")
    }

    @Test("a list has a bar where there is a total, and room beside its numbers")
    func listBar() {
        func text(_ many: ProgressLine.Many, width: Int) -> String {
            ProgressLine.text(many, rate: 2_097_152, fetchRate: 3, width: width, hasBar: true)
        }
        let line = "5/20  [#####...............]  1 failed  10.0M  2.0M/s  ETA 0:05"
        #expect(text(many, width: 80) == line)
        #expect(text(many, width: line.count + 1) == line)
        #expect(text(many, width: line.count) == "5/20  1 failed  10.0M  2.0M/s  ETA 0:05")
        var many = many
        many.isEstimated = true
        #expect(text(many, width: 80).hasPrefix("5/~20  [#####...............]  1 failed  "))
        // More may have been done than anybody guessed.
        many.done = 30
        #expect(text(many, width: 80).hasPrefix("30/~20  [####################]  "))
        many.total = nil
        #expect(text(many, width: 80) == "30 done  1 failed  10.0M  2.0M/s")
        many.total = 0
        many.done = 0
        #expect(text(many, width: 80) == "0/~0  1 failed  10.0M  2.0M/s")
    }

    @Test("a total that is a guess says so")
    func estimate() {
        var many = many
        many.isEstimated = true
        #expect(
            ProgressLine.text(many, rate: 2_097_152, fetchRate: 3, width: 200, hasBar: false)
                == "5/~20  1 failed  10.0M  2.0M/s  ETA 0:05")
    }

    @Test("a list that is being stopped says so, and promises no time")
    func stopping() {
        var many = many
        many.isStopping = true
        #expect(
            ProgressLine.text(many, rate: 2_097_152, fetchRate: 3, width: 200, hasBar: false)
                == "5/20  1 failed  10.0M  2.0M/s  stopping")
    }

    @Test("a list that waits for the network says so, and promises no time")
    func offline() {
        var many = many
        many.isOffline = true
        #expect(
            ProgressLine.text(many, rate: 2_097_152, fetchRate: 3, width: 200, hasBar: false)
                == "5/20  1 failed  10.0M  2.0M/s  waiting for the network")
    }

    @Test("the line never reaches the last column", arguments: [0, 1, 2, 10, 80])
    func width(width: Int) {
        #expect(ProgressLine.text(single, rate: 1, width: width).count <= max(0, width - 1))
        for hasBar in [false, true] {
            let line = ProgressLine.text(many, rate: 1, fetchRate: 1, width: width, hasBar: hasBar)
            #expect(line.count <= max(0, width - 1))
        }
    }

    @Test("no number is cut: what there is no room for is left out", arguments: 0...60)
    func whole(width: Int) {
        let full = ProgressLine.text(many, rate: 2_097_152, fetchRate: 3, width: 200, hasBar: false)
            .components(separatedBy: "  ")
        let line = ProgressLine.text(many, rate: 2_097_152, fetchRate: 3, width: width, hasBar: false)
        let parts = line.isEmpty ? [] : line.components(separatedBy: "  ")
        #expect(parts == Array(full.prefix(parts.count)), "\(line)")
        #expect(!parts.isEmpty || width <= full[0].count)
        // A name makes room, and is seen to be cut.
        let single = ProgressLine.Single(name: "1234567890.iso", received: 10, expected: nil)
        let name = ProgressLine.text(single, rate: 0, width: width).components(separatedBy: "  ")
        #expect(["", "1234567890.iso"].contains(name[0]) || name[0].hasSuffix(".."), "\(name)")
        #expect(name.dropFirst() == ["10B", "0B/s"].prefix(name.count - 1), "\(name)")
        #expect(name.count == 3 || width < 20)
    }

    @Test("what is sent is shown until something comes back")
    func upload() {
        var single = ProgressLine.Single(name: "x", received: 0, expected: nil, sent: 1 << 20, sending: 4 << 20)
        #expect(
            ProgressLine.text(single, rate: 1_048_576, width: 200)
                == "x  1.0M/4.0M  [#####...............]  25%  1.0M/s  ETA 0:03")
        single.received = 10
        #expect(ProgressLine.text(single, rate: 0, width: 200) == "x  10B  0B/s")
    }

    @Test("a line without a bar is the same without it")
    func noBar() {
        #expect(
            ProgressLine.text(single, rate: 1_048_576, width: 200, hasBar: false)
                == "a\\u{1b}[2J.iso  512M/1.0G  50%  1.0M/s  ETA 8:32")
    }

    @Test("more bytes than announced do not break the bar")
    func tooMuch() {
        let single = ProgressLine.Single(name: "x", received: 30, expected: 10)
        #expect(ProgressLine.text(single, rate: 1, width: 200) == "x  30B/10B  [####################]  100%  1B/s")
    }

    @Test(
        "bytes are short",
        arguments: [
            (0, "0B"), (1023, "1023B"), (1024, "1.0K"), (1536, "1.5K"), (999 << 10, "999K"), (1000 << 10, "0.9M"),
            (UInt64.max, "16777216T"),
        ] as [(UInt64, String)])
    func bytes(bytes: UInt64, text: String) {
        #expect(ByteText.short(bytes) == text)
    }

    @Test(
        "times are short",
        arguments: [
            (0, "0:00"), (0.2, "0:01"), (65, "1:05"), (7389, "2:03:09"), (.infinity, "99:59:59"), (.nan, "99:59:59"),
        ]
            as [(Double, String)])
    func times(seconds: Double, text: String) {
        #expect(ProgressLine.time(seconds) == text)
    }
}
