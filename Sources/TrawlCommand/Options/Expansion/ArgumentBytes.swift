import Glibc
import TrawlJSON

/// The arguments as the system handed them over.
enum ArgumentBytes {
    /// What a person calls the first argument that is not UTF-8; nil when all are.
    ///
    /// Swift's own arguments have a replacement character where bytes are no UTF-8: another URL would be fetched,
    /// another body sent and another file written than was asked for.
    static func firstNotUTF8() -> String? {
        var previous: String?
        for number in 1..<max(1, Int(CommandLine.argc)) {
            guard let argument = CommandLine.unsafeArgv[number] else { return nil }
            let text = String(cString: argument)
            if !UTF8Bytes.areValid(UnsafeRawBufferPointer(start: argument, count: strlen(argument))) {
                return name(of: text, after: previous) ?? "argument \(number)"
            }
            previous = text
        }
        return nil
    }

    /// An argument by the option it is the value of, which shows nothing of the value; nil when it is none.
    static func name(of argument: String, after previous: String?) -> String? {
        let before = previous.flatMap(option(of:))
        if let before, before.isWhole { return "the value of \(before.name)" }
        guard let joined = option(of: argument), !joined.isWhole else { return nil }
        return "the value of \(joined.name)"
    }

    /// The option with a value that an argument is, and whether it is all of the argument.
    private static func option(of argument: String) -> (name: String, isWhole: Bool)? {
        if argument.hasPrefix("--") {
            let name = argument.dropFirst(2).prefix { $0 != "=" }
            guard OptionTable.takesValue(long: name) else { return nil }
            return ("--\(name)", name.endIndex == argument.endIndex)
        }
        guard argument.hasPrefix("-"),
            let letter = argument.indices.dropFirst().first(where: { OptionTable.takesValue(short: argument[$0]) })
        else { return nil }
        return ("-\(argument[letter])", argument.index(after: letter) == argument.endIndex)
    }
}
