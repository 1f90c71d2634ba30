/// What waits, in the order in which it came.
struct Line<Element> {
    private var elements: [Element] = []
    /// How many at the beginning have left.
    private var gone = 0

    var first: Element? { gone < elements.count ? elements[gone] : nil }

    mutating func append(_ element: Element) {
        elements.append(element)
    }

    mutating func removeFirst() {
        gone += 1
        // Those that left take room until they are as many as those that stay.
        if gone * 2 >= elements.count {
            elements.removeFirst(gone)
            gone = 0
        }
    }
}

extension Line: Sendable where Element: Sendable {}
