import Glibc
import TrawlJSON
import TrawlPlatform

/// Lines for standard output, written in large pieces.
///
/// A reader who goes away has seen enough: then nothing more is written, and that is no failure. Bound to one thread.
struct ResultLines {
    private static let pieceSize = 1 << 16

    private var bytes: [UInt8] = []
    private var json = JSONWriter()
    /// Whether anybody still reads.
    private(set) var isClosed = false

    /// Adds a line of text.
    mutating func add(_ line: String) throws(CommandError) {
        bytes += line.utf8
        bytes.append(0x0A)
        if bytes.count >= Self.pieceSize { try flush() }
    }

    /// Adds an object as a line.
    ///
    /// - Parameter members: Writes the members but the first, the version.
    mutating func add(_ members: (inout JSONWriter) -> Void) throws(CommandError) {
        json.removeAll()
        Self.write(to: &json, members)
        bytes += json.bytes
        if bytes.count >= Self.pieceSize { try flush() }
    }

    /// Adds an object as a line to other bytes.
    mutating func gather(_ members: (inout JSONWriter) -> Void, into bytes: inout [UInt8]) {
        json.removeAll()
        Self.write(to: &json, members)
        bytes += json.bytes
    }

    /// Writes an object and the end of its line.
    static func write(to writer: inout JSONWriter, _ members: (inout JSONWriter) -> Void) {
        writer.beginObject()
        writer.key("v")
        writer.integer(1)
        members(&writer)
        writer.endObject()
        writer.endLine()
    }

    /// Writes what there is.
    mutating func flush() throws(CommandError) {
        defer { bytes.removeAll(keepingCapacity: true) }
        if bytes.isEmpty || isClosed { return }
        do throws(SystemError) {
            try StandardStreams.write(bytes, to: STDOUT_FILENO)
        } catch {
            guard error.errno == EPIPE else {
                throw CommandError(file: "standard output", error.errno, status: ExitStatus.outputError)
            }
            isClosed = true
        }
    }
}
