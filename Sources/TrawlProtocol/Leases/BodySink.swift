/// Where the body of a hop goes.
package enum BodySink: Sendable, Hashable {
    /// Counted and dropped.
    case discard
    /// Kept in memory: inside the `ended` frame when small, else in a sealed memory file.
    case memory
    /// Written beneath an output root named at the worker's start; it gets its name when it is complete.
    /// - Parameters:
    ///   - root: Index in `Hello.roots`.
    ///   - path: Relative, never leaving the root.
    ///   - collision: What happens when that name is taken.
    case file(root: UInt16, path: String, collision: FileCollision)
    /// Written to a descriptor that came with the frame; the coordinator publishes it.
    case descriptor
    /// Sent as `data` frames, as far as byte credits reach.
    case stream(credit: UInt32)
}

extension BodySink {
    /// Whether the body is in a file of the worker's own, with a name or without.
    var isWorkersFile: Bool {
        switch self {
        case .memory, .file: true
        case .discard, .descriptor, .stream: false
        }
    }

    func write(to writer: inout WireWriter) {
        switch self {
        case .discard:
            writer.write(UInt8(0))
        case .memory:
            writer.write(UInt8(1))
        case .file(let root, let path, let collision):
            writer.write(UInt8(2))
            writer.write(root)
            writer.write(path)
            collision.write(to: &writer)
        case .descriptor:
            writer.write(UInt8(3))
        case .stream(let credit):
            writer.write(UInt8(4))
            writer.write(credit)
        }
    }

    init(from reader: inout WireReader) throws(FrameError) {
        switch try reader.byte() {
        case 0: self = .discard
        case 1: self = .memory
        case 2:
            self = .file(
                root: try reader.uint16(), path: try reader.text(), collision: try FileCollision(from: &reader))
        case 3: self = .descriptor
        case 4: self = .stream(credit: try reader.uint32())
        default: throw .invalid(.sink)
        }
    }
}
