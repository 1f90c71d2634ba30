import Glibc
import Trawl
import TrawlPlatform

/// Files of an output directory with the bytes of others, complete but for their names.
enum FileCopy {
    /// The file of a response that has no name yet.
    ///
    /// Where unfinished files have names it is a copy, for which the caller waits.
    static func part(of body: UnnamedBody, in root: OutputRoot) throws(SystemError) -> PartFile {
        let part: PartFile
        do throws(OutputError) {
            part = try root.createPart(for: body.path, detours: true)
        } catch {
            throw error.systemError
        }
        if part.rawValueToPassOn == nil {
            try fill(part, from: body.file.descriptor.rawValue)
        } else {
            try part.goOn(in: body.file.descriptor.duplicated(atLeast: 3))
        }
        return part
    }

    /// A copy of a file.
    ///
    /// The caller waits for it: what is copied is what many URLs answer with, such as an error page.
    ///
    /// - Parameters:
    ///   - file: Relative to `root`, as all names are.
    ///   - name: What it is to be called, with a number or without.
    static func part(copying file: String, for name: String, in root: OutputRoot) throws(SystemError) -> PartFile {
        do throws(OutputError) {
            let source = try root.open(file)
            let part = try root.createPart(for: name)
            do throws(SystemError) {
                try fill(part, from: source.rawValue)
            } catch {
                throw OutputError.system(error)
            }
            return part
        } catch {
            throw error.systemError
        }
    }

    private static func fill(_ part: PartFile, from source: Int32) throws(SystemError) {
        var chunk = [UInt8](repeating: 0, count: 256 << 10)
        // Whoever wrote it shares the place where it stands.
        var place: off_t = 0
        while true {
            let count = pread(source, &chunk, chunk.count, place)
            if count == 0 { return }
            if count < 0, errno != EINTR { throw SystemError(errno: errno, call: "pread") }
            guard count > 0 else { continue }
            place += count
            try chunk.span.withUnsafeBytes { bytes throws(SystemError) in
                try part.write(UnsafeRawBufferPointer(rebasing: bytes[..<count]))
            }
        }
    }
}
