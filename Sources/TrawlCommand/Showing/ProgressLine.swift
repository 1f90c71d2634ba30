import Trawl

/// The progress of a run as one line of text.
struct ProgressLine: Equatable, Sendable {
    /// One URL.
    struct Single: Equatable, Sendable {
        var name: String
        var received: UInt64
        var expected: UInt64?
        /// Bytes of the request's body that were sent, and of all of it.
        var sent: UInt64 = 0
        var sending: UInt64 = 0

        /// What moves: the request's body until something of the response's has come.
        private var isSending: Bool { received == 0 && sending > 0 }
        var done: UInt64 { isSending ? sent : received }
        var whole: UInt64? { isSending ? sending : expected }
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
    ///   - hasBar: Whether the share is drawn as a bar too.
    static func text(_ single: Single, rate: Double, width: Int, hasBar: Bool = true) -> String {
        var parts = [single.name.asciiSafe, ByteText.short(single.done)]
        if let expected = single.whole, expected > 0 {
            let share = min(1, Double(single.done) / Double(expected))
            parts[1] += "/" + ByteText.short(expected)
            if hasBar { parts.append(bar(share, cells: 20)) }
            parts.append("\(Int(share * 100))%")
            parts.append(ByteText.short(rate) + "/s")
            if rate > 0, single.done < expected {
                parts.append("ETA " + time(Double(expected - single.done) / rate))
            }
        } else {
            parts.append(ByteText.short(rate) + "/s")
        }
        parts[0] = shortened(parts[0], to: width - 1 - parts[1...].reduce(0) { $0 + 2 + $1.utf8.count })
        return fit(parts, width)
    }

    /// - Parameters:
    ///   - rate: Bytes per second.
    ///   - fetchRate: Fetches per second.
    ///   - width: Columns; the line takes fewer, and none when there is no room.
    ///   - hasBar: Whether the share is drawn as a bar too, where there is a total. The bar says what the numbers say, and
    ///     is left out before one of them is, but for what the cache did.
    static func text(_ many: Many, rate: Double, fetchRate: Double, width: Int, hasBar: Bool) -> String {
        let tilde = many.isEstimated ? "~" : ""
        var parts = [many.total.map { "\(many.done)/\(tilde)\($0)" } ?? "\(many.done) done"]
        if many.failed > 0 { parts.append("\(many.failed) failed") }
        parts += [ByteText.short(many.bytes), ByteText.short(rate) + "/s"]
        if many.isStopping {
            parts.append("stopping")
        } else if many.isOffline {
            parts.append("waiting for the network")
        } else if let total = many.total, total > many.done, fetchRate > 0 {
            parts.append("ETA " + time(Double(total - many.done) / fetchRate))
        }
        if hasBar, let total = many.total, total > 0 {
            var barred = parts
            barred.insert(bar(min(1, Double(many.done) / Double(total)), cells: 20), at: 1)
            if barred.joined(separator: "  ").utf8.count < width { parts = barred }
        }
        // The longest, and the least that anybody waits for: it must not cost the others their room.
        if let cache = many.cache { parts.append(cache.text) }
        return fit(parts, width)
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

    /// As many parts as there is room for, from the left: a number that is cut would be another number. The last column
    /// stays free: a terminal would go on to the next line.
    private static func fit(_ parts: [String], _ width: Int) -> String {
        var line = ""
        for part in parts {
            let longer = line.isEmpty ? part : line + "  " + part
            if longer.utf8.count > width - 1 { break }
            line = longer
        }
        return line
    }

    /// A name, which makes room for what stands behind it down to eight columns, and is seen to be cut.
    private static func shortened(_ name: String, to columns: Int) -> String {
        let columns = max(8, columns)
        return name.utf8.count <= columns ? name : String(name.prefix(columns - 2)) + ".."
    }
}

extension String {
    /// The text in printable ASCII, so that one character is one column.
    var asciiSafe: String {
        unicodeScalars.map { $0.escaped(asASCII: true) }.joined()
    }
}
