import Glibc
import Trawl
import TrawlPlatform

/// Copies of files within an output directory.
enum FileCopy {
    /// Copies a file to the first free name of a row, `NAME.4`, `NAME.5` and so on, where it appears when it is
    /// complete; or finds its like under one of them.
    ///
    /// The caller waits for it: what is copied is what many URLs answer with, such as an error page.
    ///
    /// - Parameters:
    ///   - file: Relative to `directory`.
    ///   - directory: Absolute.
    ///   - name: The row's, relative to `directory`.
    ///   - number: The first of the row that may be the copy's.
    /// - Returns: The copy's name, relative to `directory`.
    static func copy(
        _ file: String, in directory: String, to name: String, from number: UInt32
    ) throws(SystemError) -> String {
        let source = open(LocalPath.joined(directory, file), O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard source >= 0 else { throw SystemError(errno: errno, call: "open") }
        defer { close(source) }
        let root = try OutputRoot(path: directory)
        let part: PartFile
        do throws(OutputError) {
            part = try root.createPart(for: name)
        } catch {
            switch error {
            case .system(let error): throw error
            case .invalidPath, .notARegularFile: throw SystemError(errno: EINVAL, call: "open")
            }
        }
        do throws(SystemError) {
            try fill(part, from: source)
            try part.publish(numberedFrom: number, adoptsIdentical: true, sync: false)
        } catch {
            part.discard()
            throw error
        }
        return part.path
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
