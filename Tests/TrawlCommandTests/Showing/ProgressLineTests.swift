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
            ProgressLine.text(many, rate: 2_097_152, fetchRate: 3, width: 200)
                == "5/20  1 failed  10.0M  2.0M/s  ETA 0:05")
    }

    @Test("a total that is a guess says so")
    func estimate() {
        var many = many
        many.isEstimated = true
        #expect(
            ProgressLine.text(many, rate: 2_097_152, fetchRate: 3, width: 200)
                == "5/~20  1 failed  10.0M  2.0M/s  ETA 0:05")
    }

    @Test("a list that is being stopped says so, and promises no time")
    func stopping() {
        var many = many
        many.isStopping = true
        #expect(
            ProgressLine.text(many, rate: 2_097_152, fetchRate: 3, width: 200)
                == "5/20  1 failed  10.0M  2.0M/s  stopping")
    }

    @Test("a list that waits for the network says so, and promises no time")
    func offline() {
        var many = many
        many.isOffline = true
        #expect(
            ProgressLine.text(many, rate: 2_097_152, fetchRate: 3, width: 200)
                == "5/20  1 failed  10.0M  2.0M/s  waiting for the network")
    }

    @Test("the line never reaches the last column", arguments: [0, 1, 2, 10, 80])
    func width(width: Int) {
        #expect(ProgressLine.text(single, rate: 1, width: width).count <= max(0, width - 1))
        #expect(ProgressLine.text(many, rate: 1, fetchRate: 1, width: width).count <= max(0, width - 1))
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
