import ArgumentParser

/// Where bodies go.
struct OutputArguments: ParsableArguments {
    @Option(
        name: [.customShort("o", allowingJoined: true), .customLong("output")], parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            "Write the body to this file, '-' is standard output. Once for each URL.", valueName: "file"),
        completion: .file())
    var outputs: [String] = []

    @Flag(
        name: [.customShort("O"), .customLong("remote-name")],
        help: "Name files after the last part of the URL's path, or index.html.")
    var remoteName = false

    // curl's -O --remote-name-all: -O holds for all URLs here, so there is nothing more to say.
    @Flag(name: .customLong("remote-name-all"), help: .hidden)
    var remoteNameAll = false

    @Flag(
        name: [.customShort("J"), .customLong("remote-header-name")],
        help: "With -O: use the name of Content-Disposition. An earlier file of such a name is not replaced.")
    var headerName = false

    @Option(
        name: .customLong("output-dir"), parsing: .unconditional,
        help: ArgumentHelp("Put files here; without -o as if -O were given.", valueName: "dir"), completion: .directory)
    var directory: String?

    @Flag(name: .customLong("create-dirs"), help: "Make directories that are missing, with mode 0750.")
    var createsDirectories = false

    @Flag(name: .customLong("include"), help: "Write response heads before bodies. (-i is --input-file.)")
    var include = false

    @Option(
        name: [.customShort("D", allowingJoined: true), .customLong("dump-header")], parsing: .unconditional,
        help: ArgumentHelp("Write response heads to this file; '-' is standard output.", valueName: "file"),
        completion: .file())
    var headFile: String?

    @Flag(name: [.customShort("f"), .customLong("fail")], help: "A status of 400 or more is a failure; write nothing.")
    var fail = false

    @Flag(name: .customLong("fail-with-body"), help: "As --fail, but the body is written all the same.")
    var failWithBody = false

    /// Whether a status of 400 or more is a failure.
    var failsOnErrorStatus: Bool { fail || failWithBody }

    @Option(
        name: [.customShort("i", allowingJoined: true), .customLong("input-file")], parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            "Fetch the URLs in this file into files; '-' is standard input. One a line, a tab and a file name may follow.",
            valueName: "file"), completion: .file())
    var inputFiles: [String] = []

    /// The list; there is one at most.
    var inputFile: String? { inputFiles.first }

    /// Whether names come from URLs.
    var namesFromURL: Bool { remoteName || remoteNameAll }

    func validate() throws {
        if fail, failWithBody { throw ValidationError("--fail and --fail-with-body exclude each other") }
        if !outputs.isEmpty, namesFromURL { throw ValidationError("-o and -O exclude each other") }
        if outputs.contains("") { throw ValidationError("-o wants a file name") }
        if inputFiles.count > 1 { throw ValidationError("-i is given twice; there can be one list") }
        if inputFile != nil, !outputs.isEmpty, outputs != ["-"] {
            throw ValidationError(
                "with -i, names come from the list, -O or Content-Disposition; only '-o -' is possible")
        }
    }
}
