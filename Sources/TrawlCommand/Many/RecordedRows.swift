/// Which numbers of rows of names (`NAME`, `NAME.1`, `NAME.2`, …) are known to be recorded, so that each is looked up
/// once, however many requests want the name.
struct RecordedRows {
    /// Rows that are remembered.
    private static let kept = 4096

    /// Of each row a stretch of numbers, all of which have a record: records are never taken back.
    private var known: [FileNameKey: Range<UInt32>] = [:]

    /// The first number from `first` on that has no record.
    ///
    /// - Parameter isRecorded: Whether a number of this row has one.
    mutating func firstUnrecorded(
        of name: String, from first: UInt32, _ isRecorded: (UInt32) -> Bool
    ) -> UInt32 {
        let key = FileNameKey(name)
        let before = known[key] ?? first..<first
        var number = first
        while true {
            if before.contains(number) {
                number = before.upperBound
            } else if isRecorded(number) {
                number += 1
            } else {
                break
            }
        }
        remember(key, first..<number, beside: before)
        return number
    }

    private mutating func remember(_ key: FileNameKey, _ found: Range<UInt32>, beside before: Range<UInt32>) {
        let all: Range<UInt32>
        if found.lowerBound <= before.upperBound, found.upperBound >= before.lowerBound {
            all = min(found.lowerBound, before.lowerBound)..<max(found.upperBound, before.upperBound)
        } else {
            // There is a number without a record between them.
            all = found.count > before.count ? found : before
        }
        if all.isEmpty || all == before { return }
        if known.count >= Self.kept, known[key] == nil { known.removeAll(keepingCapacity: true) }
        known[key] = all
    }
}
