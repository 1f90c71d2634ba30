/// The reports of a fetch's hops, in order: nearly always one, which needs no array then.
struct HopReports: Sendable {
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
        if first == nil { first = report } else { later.append(report) }
    }
}
