/// A directory beneath which a worker may create files.
///
/// The path may lead elsewhere by the time a worker is started in another's place; files of one run are not to be in
/// two directories.
package struct WorkerRoot: Sendable, Hashable {
    /// Absolute.
    package var path: String
    /// Its file system (`st_dev` of stat(3type)).
    package var device: UInt64
    /// Its number there (`st_ino`).
    package var inode: UInt64

    /// A directory that is at the path.
    package init(path: String, device: UInt64, inode: UInt64) {
        self.path = path
        self.device = device
        self.inode = inode
    }
}

extension WorkerRoot {
    static func write(_ roots: [WorkerRoot], to writer: inout WireWriter) {
        writer.write(roots.map(\.path))
        for root in roots {
            writer.write(root.device)
            writer.write(root.inode)
        }
    }

    static func read(from reader: inout WireReader) throws(FrameError) -> [WorkerRoot] {
        var roots: [WorkerRoot] = []
        for path in try reader.texts() {
            roots.append(WorkerRoot(path: path, device: 0, inode: 0))
        }
        for index in roots.indices {
            roots[index].device = try reader.uint64()
            roots[index].inode = try reader.uint64()
        }
        return roots
    }
}
