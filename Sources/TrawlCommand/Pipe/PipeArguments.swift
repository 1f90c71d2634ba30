import ArgumentParser

/// What all requests of a pipe have in common.
struct PipeArguments: ParsableArguments {
    @Option(
        name: [.customShort("H", allowingJoined: true), .customLong("header")], parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            "Send this field line with each request that has none of that name. As in get. Repeatable.",
            valueName: "name:value"))
    var headers: [FieldArgument] = []

    @Option(
        name: [.customShort("A", allowingJoined: true), .customLong("user-agent")], parsing: .unconditional,
        help: ArgumentHelp(
            "Send this User-Agent in place of trawl/VERSION; an empty one sends none.", valueName: "name"))
    var userAgent: String?

    @Option(
        name: .customLong("max-memory"), parsing: .unconditional,
        help: ArgumentHelp(
            "Let bodies that are received or wait to be written take so many bytes; a longer one goes alone. k, M, G and T "
                + "are known. Default 64M.",
            valueName: "bytes"))
    var memoryText: String?

    @Flag(
        name: [.customShort("s"), .customLong("silent")],
        help: "No messages on standard error, but why it cannot start, and those of --debug.")
    var silent = false

    // What belongs to the contract and is not there yet: refused with its reason and not as an unknown option.

    @Flag(name: .customLong("robots"), help: .hidden)
    var robots = false

    @Option(name: .customLong("warc"), parsing: .unconditional, help: .hidden)
    var warc: String?

    /// The bytes that bodies may take; nil where nothing is said.
    var memory: Int? { memoryText.flatMap { ByteCountArgument(argument: $0) }.map { Int(clamping: $0.bytes) } }

    func validate() throws {
        try FieldArgument.check(headers, "-H")
        try OptionText.check(
            memoryText, "--max-memory <bytes>", "a number of bytes from 1, with k, M, G or T behind it or not"
        ) {
            ByteCountArgument(argument: $0).map { $0.bytes > 0 } ?? false
        }
        if robots { throw ValidationError("--robots comes with the crawler; this version has none") }
        if warc != nil { throw ValidationError("--warc is not supported by this version") }
    }
}
