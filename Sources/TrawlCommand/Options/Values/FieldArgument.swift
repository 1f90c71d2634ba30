import ArgumentParser
import Trawl
import TrawlHTTP

/// One `-H`: `Name: value` adds a line, `Name;` one without a value, `Name:` takes a generated one away, `@FILE` stands
/// for the lines of a file.
enum FieldArgument: ExpressibleByArgument, Equatable {
    case add(name: String, value: String)
    case remove(name: String)
    case file(String)
    /// None of these. What it says is not kept, and the parser does not get to show it: it may be a secret behind a
    /// forgotten colon.
    case malformed

    init(argument: String) {
        if argument.first == "@" {
            self = argument.utf8.count > 1 ? .file(String(argument.dropFirst())) : .malformed
        } else if let colon = argument.firstIndex(of: ":") {
            let name = String(argument[..<colon])
            let value = Self.trimmed(argument[argument.index(after: colon)...])
            if name.isEmpty {
                self = .malformed
            } else {
                self = value.isEmpty ? .remove(name: name) : .add(name: name, value: value)
            }
        } else if argument.count > 1, argument.last == ";" {
            self = .add(name: String(argument.dropLast()), value: "")
        } else {
            self = .malformed
        }
    }

    /// Refuses values of an option that are no field lines.
    static func check(_ arguments: [FieldArgument], _ option: String) throws {
        if arguments.contains(.malformed) {
            throw ValidationError("\(option) wants 'Name: value', 'Name;', 'Name:' or '@FILE', and got none of them")
        }
    }

    /// Applies the lines to a request, in their order.
    ///
    /// - Parameter read: Reads a file, `-` for standard input.
    static func apply(
        _ arguments: [FieldArgument], to request: inout Request, read: (String) throws(CommandError) -> [UInt8]
    ) throws(CommandError) {
        for argument in arguments {
            switch argument {
            case .add(let name, let value): request.fields.add(name, value)
            case .remove(let name):
                // RFC 9112 §3.2 and §6.3: the server could not tell what is asked for, or where the request ends.
                if ["host", "content-length"].contains(name.lowercased()) {
                    throw CommandError("the field \(name) cannot be left out of a request")
                }
                request.options.omittedFields.append(name)
            case .file(let file): try apply(lines(of: file, read: read), to: &request, read: read)
            case .malformed: throw CommandError("not a field line")
            }
        }
    }

    /// The lines of a file, empty ones left out.
    private static func lines(
        of file: String, read: (String) throws(CommandError) -> [UInt8]
    ) throws(CommandError) -> [FieldArgument] {
        var result: [FieldArgument] = []
        var number = 0
        for line in try read(file).split(separator: 0x0A, omittingEmptySubsequences: false) {
            number += 1
            let bytes = line.last == 0x0D ? line.dropLast() : line
            if bytes.isEmpty { continue }
            let argument: FieldArgument =
                String(validating: bytes, as: UTF8.self).map { FieldArgument(argument: $0) } ?? .malformed
            guard bytes.first != UInt8(ascii: "@"), argument != .malformed else {
                let name = file == "-" ? "standard input" : file.terminalSafe
                throw CommandError("\(name):\(number): not a field line")
            }
            result.append(argument)
        }
        return result
    }

    /// RFC 9110 §5.5: white space around a value is not part of it.
    private static func trimmed(_ text: Substring) -> String {
        var text = text
        while let first = text.first, first == " " || first == "\t" { text.removeFirst() }
        while let last = text.last, last == " " || last == "\t" { text.removeLast() }
        return String(text)
    }
}

extension Request {
    /// Adds the line of an option or a default, where no line by hand has or drops its name.
    mutating func addUnlessByHand(_ name: String, _ value: String) {
        if !isByHand(name) { fields.add(name, value) }
    }

    /// Whether a line by hand has or drops that name: then it counts, and not what an option says, as in curl.
    func isByHand(_ name: String) -> Bool {
        fields[name] != nil || options.omittedFields.contains { FieldSyntax.equalIgnoringCase($0, name) }
    }
}

extension RequestOptions {
    /// What `-A` says: an empty name sends none.
    mutating func setUserAgent(_ name: String?) {
        guard let name else { return }
        if name.isEmpty { omittedFields.append("User-Agent") } else { userAgent = name }
    }
}
