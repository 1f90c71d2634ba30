import Glibc
import Trawl
import TrawlJSON
import TrawlPlatform

/// Standard output of a pipe: answers become lines there, on a thread of their own.
struct PipeOutput: OutputWriter {
    /// So much is gathered before it is written.
    private static let groupSize = 128 << 10
    /// Larger bodies are written in pieces. Whole groups of three bytes, so that the pieces' Base64 can be joined.
    private static let pieceSize = 96 << 10

    private var lines = JSONWriter()

    mutating func write(_ group: inout [PipeResponse?], written: (Int) -> Void) throws(SystemError) {
        // Of those whose lines are gathered.
        var load = 0
        for index in group.indices {
            // What is written is let go at once.
            guard let response = group[index].take() else { continue }
            load += response.load
            response.writeStart(to: &lines)
            if case .success(let answer) = response.result {
                if answer.body.count > Self.pieceSize {
                    try flush()
                    try writeBody(answer.body)
                } else {
                    answer.body.withUnsafeBytes { lines.base64($0) }
                }
            } else {
                lines.string("")
            }
            lines.endObject()
            lines.endLine()
            if lines.count >= Self.groupSize {
                try flush()
                written(load)
                load = 0
            }
        }
        try flush()
        written(load)
    }

    /// A body as a string, straight from where it is.
    private func writeBody(_ body: ResponseBody) throws(SystemError) {
        var piece = JSONWriter()
        try body.withUnsafeBytes { (bytes) throws(SystemError) in
            var start = 0
            while start < bytes.count {
                let end = min(start + Self.pieceSize, bytes.count)
                piece.removeAll()
                piece.base64(UnsafeRawBufferPointer(rebasing: bytes[start..<end]))
                // Its quotation marks stay at the two ends alone.
                let first = start == 0 ? 0 : 1
                let last = piece.count - (end == bytes.count ? 0 : 1)
                try piece.withUnsafeBytes { (text) throws(SystemError) in
                    try StandardStreams.write(UnsafeRawBufferPointer(rebasing: text[first..<last]), to: STDOUT_FILENO)
                }
                start = end
            }
        }
    }

    private mutating func flush() throws(SystemError) {
        try lines.withUnsafeBytes { (text) throws(SystemError) in
            try StandardStreams.write(text, to: STDOUT_FILENO)
        }
        lines.removeAll()
    }
}

extension OutputThread<PipeResponse?> {
    /// Hands over answers and forgets them here.
    func add(_ responses: inout [PipeResponse?]) {
        add(&responses, load: responses.reduce(0) { $0 + ($1?.load ?? 0) })
    }
}
