import Trawl

/// The progress of a run as one line of text.
struct ProgressLine: Equatable, Sendable {
    /// One URL.
    struct Single: Equatable, Sendable {
        var name: String
        var received: UInt64
        var expected: UInt64?
    }

    /// A list of URLs.
    struct Many: Equatable, Sendable {
        var done: Int
        var failed: Int
        /// How many of those that are done were done by earlier runs.
        var skipped = 0
        /// Nil when nobody can tell.
        var total: Int?
        /// Whether the total is a guess, by how much of the list has been read.
        var isEstimated = false
        var bytes: UInt64
        /// What the cache did, once it did something.
        var cache: CacheTally?
        /// Whether a first signal came: nothing more starts, and a second one ends what runs.
        var isStopping = false
        /// Whether there is no network, and fetches wait for it.
        var isOffline = false
    }

    /// - Parameters:
    ///   - rate: Bytes per second.
    ///   - width: Columns; the line takes fewer, and none when there is no room.
    static func text(_ single: Single, rate: Double, width: Int) -> String {
        var parts = [single.name.asciiSafe, ByteText.short(single.received)]
        if let expected = single.expected, expected > 0 {
            let share = min(1, Double(single.received) / Double(expected))
            parts[1] += "/" + ByteText.short(expected)
            parts.append(bar(share, cells: 20))
            parts.append("\(Int(share * 100))%")
            parts.append(ByteText.short(rate) + "/s")
            if rate > 0, single.received < expected {
                parts.append("ETA " + time(Double(expected - single.received) / rate))
            }
        } else {
            parts.append(ByteText.short(rate) + "/s")
        }
        return fit(parts.joined(separator: "  "), width)
    }

    /// - Parameters:
    ///   - rate: Bytes per second.
    ///   - fetchRate: Fetches per second.
    ///   - width: Columns; the line takes fewer, and none when there is no room.
    static func text(_ many: Many, rate: Double, fetchRate: Double, width: Int) -> String {
        let tilde = many.isEstimated ? "~" : ""
        var parts = [many.total.map { "\(many.done)/\(tilde)\($0)" } ?? "\(many.done) done"]
        if many.failed > 0 { parts.append("\(many.failed) failed") }
        if let cache = many.cache { parts.append(cache.text) }
        parts += [ByteText.short(many.bytes), ByteText.short(rate) + "/s"]
        if many.isStopping {
            parts.append("stopping")
        } else if many.isOffline {
            parts.append("waiting for the network")
        } else if let total = many.total, total > many.done, fetchRate > 0 {
            parts.append("ETA " + time(Double(total - many.done) / fetchRate))
        }
        return fit(parts.joined(separator: "  "), width)
    }

    static func bar(_ share: Double, cells: Int) -> String {
        let full = Int(share * Double(cells))
        return "[" + String(repeating: "#", count: full) + String(repeating: ".", count: cells - full) + "]"
    }

    /// `1:05`, `2:03:09`; nothing anybody would wait for is `99:59:59`.
    static func time(_ seconds: Double) -> String {
        let all = seconds.isFinite && seconds < 359_999 ? Int(seconds.rounded(.up)) : 359_999
        func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let (hours, minutes, rest) = (all / 3600, all / 60 % 60, all % 60)
        return hours > 0 ? "\(hours):\(two(minutes)):\(two(rest))" : "\(minutes):\(two(rest))"
    }

    /// The last column stays free: a terminal would go on to the next line.
    private static func fit(_ text: String, _ width: Int) -> String {
        String(text.prefix(max(0, width - 1)))
    }
}

extension String {
    /// The text in printable ASCII, so that one character is one column.
    var asciiSafe: String {
        unicodeScalars.map { $0.escaped(asASCII: true) }.joined()
    }
}
