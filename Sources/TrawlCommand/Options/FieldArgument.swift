import ArgumentParser
import Trawl

/// One `-H`: `Name: value` adds a line, `Name;` one without a value, `Name:` takes a generated one away.
enum FieldArgument: ExpressibleByArgument, Equatable {
    case add(name: String, value: String)
    case remove(name: String)

    init?(argument: String) {
        if let colon = argument.firstIndex(of: ":") {
            let name = String(argument[..<colon])
            let value = Self.trimmed(argument[argument.index(after: colon)...])
            guard !name.isEmpty else { return nil }
            self = value.isEmpty ? .remove(name: name) : .add(name: name, value: value)
        } else if argument.count > 1, argument.last == ";" {
            self = .add(name: String(argument.dropLast()), value: "")
        } else {
            return nil
        }
    }

    /// Applies the lines to a request, in their order.
    static func apply(_ arguments: [FieldArgument], to request: inout Request) {
        for argument in arguments {
            switch argument {
            case .add(let name, let value): request.fields.add(name, value)
            case .remove(let name): request.options.omittedFields.append(name)
            }
        }
    }

    /// RFC 9110 §5.5: white space around a value is not part of it.
    private static func trimmed(_ text: Substring) -> String {
        var text = text
        while let first = text.first, first == " " || first == "\t" { text.removeFirst() }
        while let last = text.last, last == " " || last == "\t" { text.removeLast() }
        return String(text)
    }
}
