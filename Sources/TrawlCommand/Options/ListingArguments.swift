import ArgumentParser

/// Whether results are for programs.
struct ListingArguments: ParsableArguments {
    @Flag(name: .customLong("json"), help: "Write JSON, one object a line.")
    var json = false
}
