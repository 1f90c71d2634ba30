/// Who waits, first come first served; leaving from the middle costs no more than leaving at the front.
struct WaitingLine<Element: Hashable & Sendable>: Sendable {
    private var line: [(element: Element, number: UInt64)] = []
    private var head = 0
    /// The place each one has; an entry of the line with another number is of somebody who left.
    private var numbers: [Element: UInt64] = [:]
    private var lastNumber: UInt64 = 0

    var count: Int { numbers.count }

    /// Puts one at the end, unless it waits already.
    mutating func append(_ element: Element) {
        guard numbers[element] == nil else { return }
        lastNumber += 1
        numbers[element] = lastNumber
        line.append((element, lastNumber))
    }

    mutating func popFirst() -> Element? {
        while head < line.count {
            let (element, number) = line[head]
            head += 1
            if numbers[element] == number {
                numbers[element] = nil
                compact()
                return element
            }
        }
        compact()
        return nil
    }

    mutating func remove(_ element: Element) {
        guard numbers.removeValue(forKey: element) != nil else { return }
        compact()
    }

    /// The line stays within twice the number of those who wait.
    private mutating func compact() {
        guard line.count > 2 * numbers.count + 16 else { return }
        line = line[head...].filter { numbers[$0.element] == $0.number }
        head = 0
    }
}
