/// What becomes of a file whose name is taken. The file system is asked when the file is complete; nobody else knows.
package enum FileCollision: Sendable, Hashable {
    /// It takes the place of an earlier file.
    case replace
    /// The hop fails.
    case fail
    /// The hop fails, unless the file has the same bytes: then it counts as this one.
    case failUnlessIdentical
    /// It gets the first free name of `NAME`, `NAME.1`, `NAME.2`, …; and where a file stands in the place of a
    /// directory of the path, the rest of the path from there on becomes one name, with `%2F` for each slash.
    /// - Parameters:
    ///   - from: The first number that is tried; 0 is the name alone.
    ///   - adoptsIdentical: Whether a file of the same bytes that is met on the way counts as this one.
    case number(from: UInt32, adoptsIdentical: Bool)
    /// It gets its name with this number, 0 being the name alone. Where that is taken, or the file would get another path
    /// than the one asked for, it gets none and comes to the coordinator, which names it: it may know of names that are
    /// another's although nothing has them.
    case onlyNumber(UInt32)
}

extension FileCollision {
    func write(to writer: inout WireWriter) {
        switch self {
        case .replace: writer.write(UInt8(0))
        case .fail: writer.write(UInt8(1))
        case .number(let first, let adoptsIdentical):
            writer.write(UInt8(2))
            writer.write(first)
            writer.write(adoptsIdentical)
        case .failUnlessIdentical: writer.write(UInt8(3))
        case .onlyNumber(let number):
            writer.write(UInt8(4))
            writer.write(number)
        }
    }

    init(from reader: inout WireReader) throws(FrameError) {
        switch try reader.byte() {
        case 0: self = .replace
        case 1: self = .fail
        case 2: self = .number(from: try reader.uint32(), adoptsIdentical: try reader.bool())
        case 3: self = .failUnlessIdentical
        case 4: self = .onlyNumber(try reader.uint32())
        default: throw .invalid(.collision)
        }
    }
}
