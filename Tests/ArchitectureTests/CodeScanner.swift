/// Blanks comments and the text of string literals, so that rules see code alone. It knows as much of Swift and C as
/// that takes.
///
/// What stands in an interpolation is blanked with its string.
enum CodeScanner {
    static func blank(_ text: String) -> [String] {
        let bytes = Array(text.utf8)
        var output: [UInt8] = []
        output.reserveCapacity(bytes.count)
        var index = 0

        func starts(_ pattern: StaticString, at position: Int) -> Bool {
            guard position + pattern.utf8CodeUnitCount <= bytes.count else { return false }
            return (0..<pattern.utf8CodeUnitCount).allSatisfy { bytes[position + $0] == pattern.utf8Start[$0] }
        }
        func skip(_ count: Int) {
            for _ in 0..<count where index < bytes.count {
                if bytes[index] == UInt8(ascii: "\n") { output.append(bytes[index]) }
                index += 1
            }
        }

        while index < bytes.count {
            if starts("//", at: index) {
                while index < bytes.count, bytes[index] != UInt8(ascii: "\n") { index += 1 }
            } else if starts("/*", at: index) {
                var depth = 0
                repeat {
                    if starts("/*", at: index) {
                        depth += 1
                        skip(2)
                    } else if starts("*/", at: index) {
                        depth -= 1
                        skip(2)
                    } else {
                        skip(1)
                    }
                } while depth > 0 && index < bytes.count
                output.append(UInt8(ascii: " "))
            } else if starts("'\"'", at: index) {
                skip(3)
            } else if let literal = opening(in: bytes, at: index) {
                skip(literal.pounds + literal.quotes)
                while index < bytes.count, !closes(literal, in: bytes, at: index) {
                    if literal.quotes == 1, bytes[index] == UInt8(ascii: "\n") { break }
                    skip(escapes(literal, in: bytes, at: index) ? literal.pounds + 2 : 1)
                }
                if index < bytes.count, bytes[index] != UInt8(ascii: "\n") { skip(literal.pounds + literal.quotes) }
                output.append(contentsOf: [UInt8(ascii: "\""), UInt8(ascii: "\"")])
            } else {
                output.append(bytes[index])
                index += 1
            }
        }
        return String(decoding: output, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
            .map(String.init)
    }

    private struct Literal {
        let pounds: Int
        let quotes: Int
    }

    private static func opening(in bytes: [UInt8], at start: Int) -> Literal? {
        var index = start
        while index < bytes.count, bytes[index] == UInt8(ascii: "#") { index += 1 }
        let pounds = index - start
        guard index < bytes.count, bytes[index] == UInt8(ascii: "\"") else { return nil }
        let isTriple = index + 2 < bytes.count && bytes[index + 1] == bytes[index] && bytes[index + 2] == bytes[index]
        return Literal(pounds: pounds, quotes: isTriple ? 3 : 1)
    }

    private static func closes(_ literal: Literal, in bytes: [UInt8], at index: Int) -> Bool {
        let end = index + literal.quotes + literal.pounds
        guard end <= bytes.count else { return false }
        return bytes[index..<index + literal.quotes].allSatisfy { $0 == UInt8(ascii: "\"") }
            && bytes[index + literal.quotes..<end].allSatisfy { $0 == UInt8(ascii: "#") }
    }

    private static func escapes(_ literal: Literal, in bytes: [UInt8], at index: Int) -> Bool {
        let end = index + 1 + literal.pounds
        guard bytes[index] == UInt8(ascii: "\\"), end < bytes.count else { return false }
        return bytes[index + 1..<end].allSatisfy { $0 == UInt8(ascii: "#") }
    }
}
