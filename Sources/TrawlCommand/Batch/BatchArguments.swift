import ArgumentParser

/// What a batch does with bodies and results.
struct BatchArguments: ParsableArguments {
    @Option(
        name: .customLong("out"), parsing: .unconditional,
        help: ArgumentHelp(
            "Write bodies beneath this directory, which is made. Default: the working directory.", valueName: "dir"),
        completion: .directory)
    var directory: String?

    @Option(
        name: .customLong("results"), parsing: .unconditional,
        help: ArgumentHelp(
            "Append a JSON record for each request to this file, and skip requests that have one. '-' is standard output.",
            valueName: "file"), completion: .file())
    var results: String?

    @Flag(name: .customLong("retry-failed"), help: "Do requests again whose record says that they failed.")
    var retriesFailed = false

    @Option(
        name: [.customShort("o", allowingJoined: true), .customLong("output")], parsing: .unconditional,
        help: ArgumentHelp(
            "Name files by this pattern: {host}, {path}, {name}, {line} and {id} are filled in.", valueName: "pattern"))
    var pattern: String?

    @Flag(name: [.customShort("O"), .customLong("remote-name")], help: "Name files after the last part of the path.")
    var remoteName = false

    @Flag(
        name: [.customShort("J"), .customLong("remote-header-name")],
        help: "Use the name of Content-Disposition where a response has one.")
    var headerName = false

    @Flag(name: .customLong("no-files"), help: "Drop the bodies; only the results tell.")
    var dropsBodies = false

    @Flag(name: [.customShort("f"), .customLong("fail")], help: "A status of 400 or more is a failure; write no file.")
    var fail = false

    @Flag(name: .customLong("no-location"), help: "Do not follow redirects.")
    var noLocation = false

    func validate() throws {
        if pattern != nil, remoteName { throw ValidationError("-o and -O exclude each other") }
        if pattern?.isEmpty == true { throw ValidationError("-o wants a pattern") }
        if dropsBodies, pattern != nil || remoteName || headerName || directory != nil {
            throw ValidationError("--no-files leaves nothing to name or to put anywhere")
        }
        if results?.isEmpty == true { throw ValidationError("--results wants a file") }
        if directory?.isEmpty == true { throw ValidationError("--out wants a directory") }
        if retriesFailed, results == nil { throw ValidationError("--retry-failed needs --results") }
    }
}
