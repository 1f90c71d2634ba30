/// Metrics in the text format that Prometheus reads, version 0.0.4.
///
/// Names begin with `trawl_`; docs/watching.md lists them. Base units are seconds and bytes.
package struct PrometheusText {
    /// What is written.
    package private(set) var text = ""

    /// Nothing is written.
    package init() {}

    /// All metrics of a snapshot.
    package static func of(_ snapshot: EngineSnapshot) -> String {
        var writer = PrometheusText()
        writer.add(snapshot)
        return writer.text
    }

    // MARK: The format

    /// What a metric is.
    package enum Kind: String, Sendable {
        /// It only grows.
        case counter
        /// It goes up and down.
        case gauge
        /// Counts by bounds.
        case histogram
    }

    /// Begins a metric.
    ///
    /// - Parameters:
    ///   - name: Letters, digits and underscores.
    ///   - help: One line.
    package mutating func begin(_ name: String, _ kind: Kind, _ help: String) {
        text += "# HELP \(name) \(Self.escaped(help, quotes: false))\n# TYPE \(name) \(kind.rawValue)\n"
    }

    /// Adds a sample of the metric that was begun.
    ///
    /// - Parameter labels: Names and any values.
    package mutating func sample(_ name: String, labels: [(String, String)] = [], _ value: UInt64) {
        sample(name, labels, text: String(value))
    }

    /// Adds a sample whose value is so many microseconds, in seconds.
    package mutating func sample(_ name: String, labels: [(String, String)] = [], microseconds: UInt64) {
        sample(name, labels, text: Self.seconds(microseconds))
    }

    private mutating func sample(_ name: String, _ labels: [(String, String)], text value: String) {
        text += name
        if !labels.isEmpty {
            text += "{" + labels.map { "\($0)=\"\(Self.escaped($1, quotes: true))\"" }.joined(separator: ",") + "}"
        }
        text += " \(value)\n"
    }

    /// Adds a histogram.
    package mutating func histogram(_ name: String, _ help: String, _ histogram: TimeHistogram) {
        begin(name, .histogram, help)
        var sum: UInt64 = 0
        for (bound, count) in zip(TimeHistogram.bounds, histogram.counts) {
            sum &+= count
            sample(name + "_bucket", labels: [("le", Self.seconds(bound))], sum)
        }
        sample(name + "_bucket", labels: [("le", "+Inf")], histogram.count)
        sample(name + "_sum", microseconds: histogram.sum)
        sample(name + "_count", histogram.count)
    }

    /// A number of seconds without an exponent, and without zeros at its end.
    static func seconds(_ microseconds: UInt64) -> String {
        let rest = microseconds % 1_000_000
        guard rest > 0 else { return String(microseconds / 1_000_000) }
        var digits = String(rest)
        digits = String(repeating: "0", count: 6 - digits.count) + digits
        while digits.hasSuffix("0") { digits.removeLast() }
        return "\(microseconds / 1_000_000).\(digits)"
    }

    /// A backslash and a line feed are escaped, and in labels quotation marks.
    static func escaped(_ text: String, quotes: Bool) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\"" where quotes: result += "\\\""
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}
