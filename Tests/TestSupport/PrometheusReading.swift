/// Reads the text format of Prometheus, version 0.0.4, and takes no liberties with it.
///
/// Stricter than the format: each metric has a help text before its type, samples stand together, counters end in
/// `_total`.
package struct PrometheusReading {
    /// Why a text is refused.
    package struct Mistake: Error, Equatable, CustomStringConvertible {
        package let description: String
    }

    /// Samples by name and labels, as in `trawl_hops_total{connection="new"}`.
    package private(set) var samples: [String: Double] = [:]
    /// The types by name.
    package private(set) var types: [String: String] = [:]

    private var helped: Set<String> = []
    private var current = ""

    /// Reads a whole text.
    package init(_ text: String) throws(Mistake) {
        guard text.hasSuffix("\n") else { throw Mistake(description: "the last line does not end") }
        for line in text.split(separator: "\n", omittingEmptySubsequences: false).dropLast() {
            guard !line.isEmpty, line.unicodeScalars.allSatisfy({ $0.value >= 0x20 }) else {
                throw Mistake(description: "a line that is empty or has a control character")
            }
            if line.hasPrefix("# ") { try comment(line) } else { try sample(line) }
        }
        for (name, type) in types where type == "histogram" { try checkHistogram(name) }
        for (name, type) in types where type == "counter" && !name.hasSuffix("_total") {
            throw Mistake(description: "the counter \(name) does not end in _total")
        }
    }

    private mutating func comment(_ line: Substring) throws(Mistake) {
        let parts = line.split(separator: " ", maxSplits: 3, omittingEmptySubsequences: false)
        guard parts.count == 4, Self.isName(parts[2]), !parts[3].isEmpty else {
            throw Mistake(description: "no comment: \(line)")
        }
        let name = String(parts[2])
        switch parts[1] {
        case "HELP":
            guard helped.insert(name).inserted else { throw Mistake(description: "\(name) is explained twice") }
        case "TYPE":
            guard helped.contains(name), types[name] == nil else {
                throw Mistake(description: "\(name) has no help or two types")
            }
            guard ["counter", "gauge", "histogram"].contains(parts[3]) else {
                throw Mistake(description: "no type: \(parts[3])")
            }
            types[name] = String(parts[3])
            current = name
        default: throw Mistake(description: "no comment: \(line)")
        }
    }

    private mutating func sample(_ line: Substring) throws(Mistake) {
        let name = line.prefix { $0 != "{" && $0 != " " }
        var rest = line.dropFirst(name.count)
        let family = types[current] == "histogram" ? ["_bucket", "_sum", "_count"].map { current + $0 } : [current]
        guard Self.isName(name), family.contains(String(name)) else {
            throw Mistake(description: "a sample of \(name) among those of \(current)")
        }
        var key = String(name)
        if rest.first == "{" {
            let labels = try Self.labels(&rest)
            key += "{" + labels + "}"
        }
        guard rest.first == " ", let value = Double(rest.dropFirst()), value.isFinite, value >= 0 else {
            throw Mistake(description: "no value: \(line)")
        }
        guard samples.updateValue(value, forKey: key) == nil else { throw Mistake(description: "\(key) comes twice") }
    }

    /// Takes labels with their braces; returns what is between them.
    private static func labels(_ rest: inout Substring) throws(Mistake) -> String {
        let start = rest.dropFirst()
        rest = start
        var names: Set<Substring> = []
        while true {
            let name = rest.prefix { $0 != "=" }
            guard isName(name), !name.contains(":"), names.insert(name).inserted else {
                throw Mistake(description: "no label: \(rest)")
            }
            rest = rest.dropFirst(name.count + 1)
            guard rest.first == "\"" else { throw Mistake(description: "a label without quotation marks: \(rest)") }
            rest = rest.dropFirst()
            while let character = rest.first, character != "\"" {
                rest = rest.dropFirst()
                guard character == "\\" else { continue }
                guard let escaped = rest.first, ["\\", "\"", "n"].contains(escaped) else {
                    throw Mistake(description: "no escape: \(rest)")
                }
                rest = rest.dropFirst()
            }
            guard rest.first == "\"" else { throw Mistake(description: "a label that does not end") }
            rest = rest.dropFirst()
            guard rest.first == "," else { break }
            rest = rest.dropFirst()
        }
        guard rest.first == "}" else { throw Mistake(description: "labels that do not end: \(rest)") }
        let inside = start[..<rest.startIndex]
        rest = rest.dropFirst()
        return String(inside)
    }

    private func checkHistogram(_ name: String) throws(Mistake) {
        let prefix = name + "_bucket{le=\""
        var buckets: [(bound: Double, count: Double)] = []
        for (key, count) in samples where key.hasPrefix(prefix) {
            let text = key.dropFirst(prefix.count).dropLast(2)
            guard let bound = text == "+Inf" ? .infinity : Double(text) else {
                throw Mistake(description: "no bound: \(key)")
            }
            buckets.append((bound, count))
        }
        buckets.sort { $0.bound < $1.bound }
        guard buckets.last?.bound == .infinity, buckets.last?.count == samples[name + "_count"],
            samples[name + "_sum"] != nil, zip(buckets, buckets.dropFirst()).allSatisfy({ $0.count <= $1.count })
        else { throw Mistake(description: "\(name) is no histogram") }
    }

    private static func isName(_ name: Substring) -> Bool {
        guard let first = name.first, first.isLetter || first == "_" else { return false }
        return name.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_") }
    }
}
