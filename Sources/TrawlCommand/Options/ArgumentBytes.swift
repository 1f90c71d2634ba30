import Glibc

/// The arguments as the system handed them over.
enum ArgumentBytes {
    /// The number, from 1, of the first argument that is not UTF-8; nil when all are.
    ///
    /// Swift's own arguments have a replacement character where bytes are no UTF-8: another URL would be fetched, another
    /// body sent and another file written than was asked for.
    static func firstNotUTF8() -> Int? {
        for number in 1..<max(1, Int(CommandLine.argc)) {
            guard let argument = CommandLine.unsafeArgv[number] else { return nil }
            if !isUTF8(UnsafeRawBufferPointer(start: argument, count: strlen(argument))) { return number }
        }
        return nil
    }

    /// Whether bytes are UTF-8.
    static func isUTF8(_ bytes: UnsafeRawBufferPointer) -> Bool {
        bytes.withMemoryRebound(to: UInt8.self) { bytes in
            (try? UTF8Span(validating: bytes.span)) != nil
        }
    }
}
