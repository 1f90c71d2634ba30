@testable import TrawlFrontier

extension QueueMachine {
    /// All there is to do now.
    mutating func actions() -> [Action] {
        var actions: [Action] = []
        while let action = next() { actions.append(action) }
        return actions
    }
}
