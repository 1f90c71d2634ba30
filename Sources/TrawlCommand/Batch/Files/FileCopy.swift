import Glibc
import TrawlPlatform

/// Files of an output directory under another name: the first free one of a row, `NAME.4`, `NAME.5` and so on, or that
/// of a file there with the same bytes.
enum FileCopy {
    /// Copies a file; the copy appears when it is complete.
    ///
    /// The caller waits for it: what is copied is what many URLs answer with, such as an error page.
    ///
    /// - Parameters:
    ///   - file: Relative to `root`, as all names are.
    ///   - name: The row's.
    ///   - number: The first of the row that may be the copy's.
    static func copy(
        _ file: String, in root: OutputRoot, to name: String, from number: UInt32
    ) throws(SystemError) -> PartFile {
        do throws(OutputError) {
            let source = try root.open(file)
            let part = try root.createPart(for: name)
            return try published(part, from: number, filledFrom: source.rawValue)
        } catch {
            throw plain(error)
        }
    }

    /// Gives a file another name beside the one it has; where there are no hard links it is copied.
    static func link(
        _ file: String, in root: OutputRoot, to name: String, from number: UInt32
    ) throws(SystemError) -> PartFile {
        do throws(OutputError) {
            return try published(try root.reopen(file, for: name), from: number)
        } catch {
            return try copy(file, in: root, to: name, from: number)
        }
    }

    /// - Parameter source: What is to be in the file; nil when it is there.
    private static func published(
        _ part: PartFile, from number: UInt32, filledFrom source: Int32? = nil
    ) throws(OutputError) -> PartFile {
        do throws(SystemError) {
            if let source { try fill(part, from: source) }
            try part.publish(numberedFrom: number, adoptsIdentical: true, sync: false)
            return part
        } catch {
            part.discard()
            throw .system(error)
        }
    }

    private static func plain(_ error: OutputError) -> SystemError {
        switch error {
        case .system(let error): error
        case .invalidPath, .notARegularFile: SystemError(errno: EINVAL, call: "open")
        }
    }

    private static func fill(_ part: PartFile, from source: Int32) throws(SystemError) {
        var chunk = [UInt8](repeating: 0, count: 256 << 10)
        while true {
            let count = read(source, &chunk, chunk.count)
            if count == 0 { return }
            if count < 0, errno != EINTR { throw SystemError(errno: errno, call: "read") }
            guard count > 0 else { continue }
            try chunk.span.withUnsafeBytes { bytes throws(SystemError) in
                try part.write(UnsafeRawBufferPointer(rebasing: bytes[..<count]))
            }
        }
    }
}
