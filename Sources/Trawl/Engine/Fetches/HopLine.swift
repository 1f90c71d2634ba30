/// Fetches in the order in which they came.
struct HopLine {
    private var keys: [FetchKey] = []
    /// How many at the beginning have left.
    private var gone = 0

    var first: FetchKey? { gone < keys.count ? keys[gone] : nil }

    mutating func append(_ key: FetchKey) {
        keys.append(key)
    }

    mutating func removeFirst() {
        gone += 1
        // Those that left take room until they are as many as those that stay.
        if gone * 2 >= keys.count {
            keys.removeFirst(gone)
            gone = 0
        }
    }
}
