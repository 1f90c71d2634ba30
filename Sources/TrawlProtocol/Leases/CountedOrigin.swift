/// For which origin a hop's connection counts, where the connections of all workers to an origin are limited.
package struct CountedOrigin: Sendable, Hashable {
    /// The coordinator's number for it. As long as a worker has a connection that counts for a number, it is the same
    /// origin's.
    package var number: UInt32
    /// As long as it has less open, the worker may open another one beside idle ones; at least 1. From there on it
    /// closes an idle one first, if there is one.
    package var most: UInt16

    /// Connections to the origin of that number.
    package init(number: UInt32, most: UInt16) {
        self.number = number
        self.most = max(1, most)
    }

    static func write(_ origin: CountedOrigin?, to writer: inout WireWriter) {
        writer.write(origin?.most ?? 0)
        if let origin { writer.write(origin.number) }
    }

    static func read(from reader: inout WireReader) throws(FrameError) -> CountedOrigin? {
        let most = try reader.uint16()
        return most == 0 ? nil : CountedOrigin(number: try reader.uint32(), most: most)
    }
}
