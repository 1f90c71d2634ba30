/// A least time and what chance may add to it: `2`, `2~1.5`, in seconds.
struct WaitArgument: Equatable {
    let least: Duration
    let random: Duration

    init?(argument: String) {
        let parts = argument.split(separator: "~", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard let least = SecondsArgument(argument: parts[0]) else { return nil }
        self.least = least.duration
        guard parts.count == 2 else {
            random = .zero
            return
        }
        guard let random = SecondsArgument(argument: parts[1]) else { return nil }
        self.random = random.duration
    }
}
