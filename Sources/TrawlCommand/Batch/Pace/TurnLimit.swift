/// How much of a list is read in a turn of a batch, before signals and workers are looked at again and records are
/// written.
///
/// Most lists are of requests, which need room; but there are those of lines that are bad, done before or comments. Of
/// such lines many count by their number, and long ones by their bytes: what is to be said of them waits in memory for
/// the end of the turn.
struct TurnLimit {
    /// Lines in a turn.
    static let lines = 4096
    /// Bytes of lines, and bytes that wait for the outputs, with which a turn ends.
    static let bytes = 1 << 20

    private var left = TurnLimit.lines
    private let end: Int

    /// - Parameter bytesRead: What was read of the list before the turn.
    init(bytesRead: Int) {
        end = bytesRead + Self.bytes
    }

    /// Whether one more line may be read; then it counts.
    ///
    /// - Parameters:
    ///   - bytesRead: What was read of the list so far.
    ///   - waiting: Bytes that wait for the outputs.
    mutating func mayRead(bytesRead: Int, waiting: Int) -> Bool {
        guard left > 0, bytesRead < end, waiting < Self.bytes else { return false }
        left -= 1
        return true
    }
}
