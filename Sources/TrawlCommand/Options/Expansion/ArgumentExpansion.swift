import ArgumentParser

/// What happens to arguments before they are parsed: options of `-K FILE` take its place; a value joined to its letter
/// is parted from it where the parser would not: behind other letters (`-sXPOST`), and where it holds an equals sign
/// (`-ba=1`), before which a long name would be looked for; and so is an empty one behind a name's (`--referer=`), in
/// place of which the parser would take the next argument. A value that the parser would refuse, or stop at, before it
/// asks whose it is (`---x`, `-=x`, `--`) is joined to its option. The URL of `--url` takes its place among the others,
/// which the parser keeps apart: the n-th is for the n-th `-o`.
enum ArgumentExpansion {
    /// The arguments without any `-K`.
    ///
    /// - Parameters:
    ///   - arguments: Without the program's name; a subcommand may be first.
    ///   - read: Reads a file, `-` for standard input.
    static func expand(
        _ arguments: [String], read: (String) throws(CommandError) -> [UInt8]
    ) throws(CommandError) -> [String] {
        // Almost always there is nothing to do, and then nothing is looked at twice.
        let isPlain = arguments.allSatisfy { argument in
            !mayNameFile(argument) && !mayJoin(argument) && !hasEmptyValue(argument) && !mayNameURL(argument)
                && !isMisread(argument)
        }
        if isPlain { return arguments }
        let first = arguments.first ?? ""
        let takesURLs = first == GetCommand.configuration.commandName || !TrawlCommand.isSubcommand(first)
        var result: [String] = []
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            if argument == "--" {
                return result + [argument] + rest
            } else if argument == "--config" {
                guard let file = rest.popFirst() else { throw CommandError("--config wants a file name") }
                try insertOptions(of: file, into: &rest, read)
            } else if argument.hasPrefix("--config=") {
                try insertOptions(of: String(argument.dropFirst(9)), into: &rest, read)
            } else if takesURLs, argument == "--url", let url = rest.first, isPlainURL(url[...]) {
                rest.removeFirst()
                result.append(url)
            } else if takesURLs, argument.hasPrefix("--url="), isPlainURL(argument.dropFirst(6)) {
                result.append(String(argument.dropFirst(6)))
            } else if hasEmptyValue(argument), OptionTable.takesValue(long: argument.dropFirst(2).dropLast()) {
                result += [String(argument.dropLast()), ""]
            } else if argument.hasPrefix("--") {
                if OptionTable.takesValue(long: argument.dropFirst(2)), let value = rest.popFirst() {
                    append(argument, value, to: &result)
                } else {
                    result.append(argument)
                }
            } else if argument.hasPrefix("-") {
                try expandLetters(argument, &rest, &result, read)
            } else {
                result.append(argument)
            }
        }
        return result
    }

    /// One letter or several, the last with a value, joined or not: `-sSK FILE`, `-KFILE`.
    private static func expandLetters(
        _ argument: String, _ rest: inout ArraySlice<String>, _ result: inout [String],
        _ read: (String) throws(CommandError) -> [UInt8]
    ) throws(CommandError) {
        guard let letter = argument.dropFirst().firstIndex(where: OptionTable.takesValue(short:)) else {
            result.append(argument)
            return
        }
        let joined = argument[argument.index(after: letter)...]
        guard argument[letter] == "K" else {
            if mayJoin(argument) {
                append(String(argument[...letter]), String(joined), to: &result)
            } else if joined.isEmpty, let value = rest.popFirst() {
                append(argument, value, to: &result)
            } else {
                result.append(argument)
            }
            return
        }
        let flags = argument[..<letter]
        if flags != "-" { result.append(String(flags)) }
        guard let file = joined.isEmpty ? rest.popFirst() : String(joined) else {
            throw CommandError("-K wants a file name")
        }
        try insertOptions(of: file, into: &rest, read)
    }

    /// An option and its value: two arguments, or one where the parser would misread the value.
    ///
    /// - Parameter option: `--name`, or letters of which the last has the value.
    private static func append(_ option: String, _ value: String, to result: inout [String]) {
        guard isMisread(value) else {
            result += [option, value]
            return
        }
        if option.hasPrefix("--") {
            result.append("\(option)=\(value)")
            return
        }
        // With an equals sign behind them the parser takes several letters for a name.
        let flags = option.dropLast()
        if flags != "-" { result.append(String(flags)) }
        result.append("-\(option.suffix(1))=\(value)")
    }

    /// Whether the parser refuses an argument, or ends the options at it, before it asks whether it is a value.
    private static func isMisread(_ argument: String) -> Bool { argument == "--" || isRefused(argument) }

    /// Whether the parser refuses an argument by how it begins, whichever option it stands behind.
    static func isRefused(_ argument: String) -> Bool { argument.hasPrefix("---") || argument.hasPrefix("-=") }

    /// What a file says comes next, and is looked at as if it stood on the command line.
    private static func insertOptions(
        of file: String, into rest: inout ArraySlice<String>, _ read: (String) throws(CommandError) -> [UInt8]
    ) throws(CommandError) {
        let options = try ConfigFile.arguments(of: file, read: read)
        rest.insert(contentsOf: options, at: rest.startIndex)
    }

    private static func mayNameFile(_ argument: String) -> Bool {
        argument.hasPrefix("--config") || argument.hasPrefix("-") && argument.utf8.contains(UInt8(ascii: "K"))
    }

    private static func mayNameURL(_ argument: String) -> Bool { argument.hasPrefix("--url") }

    /// Whether a URL is taken for one without its option, too.
    private static func isPlainURL(_ url: Substring) -> Bool {
        !url.isEmpty && !url.hasPrefix("-") && !TrawlCommand.isSubcommand(String(url))
            && !TrawlCommand.isReserved(String(url))
    }

    private static func hasEmptyValue(_ argument: String) -> Bool {
        argument.hasPrefix("--") && argument.utf8.last == UInt8(ascii: "=")
    }

    private static func mayJoin(_ argument: String) -> Bool {
        guard argument.hasPrefix("-"), !argument.hasPrefix("--") else { return false }
        let letters = argument.dropFirst()
        guard let letter = letters.firstIndex(where: OptionTable.takesValue(short:)) else { return false }
        let joined = letters[letters.index(after: letter)...]
        return !joined.isEmpty && (letter != letters.startIndex || joined.utf8.contains(UInt8(ascii: "=")))
    }
}
