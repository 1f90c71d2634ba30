/// The reports of a fetch's hops, in order: nearly always one, which needs no array then. Of very many the first and
/// the latest are kept.
struct HopReports: Sendable {
    /// How many of the latest are kept at least.
    static let mostLater = 1000

    private var first: HopReport?
    private var later: [HopReport] = []

    /// None.
    init() {}

    init(_ reports: [HopReport]) {
        first = reports.first
        later = Array(reports.dropFirst())
    }

    /// All of them.
    var all: [HopReport] { first.map { [$0] + later } ?? [] }

    mutating func append(_ report: consuming HopReport) {
        guard first != nil else { return first = report }
        if later.count >= 2 * Self.mostLater { later.removeFirst(Self.mostLater) }
        later.append(report)
    }
}
