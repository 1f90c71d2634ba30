import Glibc

/// Why an output file could not be made.
package enum OutputError: Error, Equatable, Sendable {
    /// The path is empty, absolute, leads out (`..`), or has an empty, over-long or zero-holding component.
    case invalidPath
    /// At the destination there is something that must not be replaced by a file, such as a device or a directory.
    case notARegularFile
    case system(SystemError)
}

/// A checked relative path: where its last component starts.
struct OutputPath {
    /// The longest name Linux file systems take (NAME_MAX).
    static let longestName = 255
    /// The longest path the kernel takes (PATH_MAX, less the final zero).
    static let longestPath = 4095

    /// How many bytes lead to the directory, without the slash; zero for the root itself.
    let directoryLength: Int
    /// Where the file's name starts.
    let nameStart: Int

    /// Checks a path that may come from the network.
    init(checking path: UnsafeRawBufferPointer) throws(OutputError) {
        guard !path.isEmpty, path.count <= Self.longestPath else { throw .invalidPath }
        var start = 0
        for index in 0...path.count {
            if index < path.count {
                if path[index] == 0 { throw .invalidPath }
                if path[index] != UInt8(ascii: "/") { continue }
            }
            try Self.checkName(UnsafeRawBufferPointer(rebasing: path[start..<index]))
            if index < path.count { start = index + 1 }
        }
        nameStart = start
        directoryLength = max(0, start - 1)
    }

    private static func checkName(_ name: UnsafeRawBufferPointer) throws(OutputError) {
        let dot = UInt8(ascii: ".")
        guard (1...longestName).contains(name.count) else { throw .invalidPath }
        if name[0] == dot, name.count == 1 || (name.count == 2 && name[1] == dot) { throw .invalidPath }
    }
}

/// The name of a file and of its unfinished form in the same directory, as zero-terminated bytes in one array.
struct PartNames {
    /// How much of the name the unfinished form repeats; little enough for file systems with short names.
    private static let repeated = 100
    private static let digits = Array("abcdefghijklmnopqrstuvwxyz234567".utf8)

    private let bytes: [UInt8]
    private let finalStart: Int

    /// `.NAME.RANDOM.part` for `NAME`.
    init(name: UnsafeRawBufferPointer, random: UInt64) {
        var kept = min(name.count, Self.repeated)
        // Not in the middle of a UTF-8 sequence: some file systems refuse that.
        if kept < name.count {
            while kept > 0, name[kept] & 0xC0 == 0x80 { kept -= 1 }
        }
        var bytes = [UInt8]()
        bytes.reserveCapacity(kept + name.count + 24)
        bytes.append(UInt8(ascii: "."))
        bytes.append(contentsOf: name[..<kept])
        bytes.append(UInt8(ascii: "."))
        for shift in stride(from: 60, through: 0, by: -5) {
            bytes.append(Self.digits[Int(truncatingIfNeeded: random >> UInt64(shift)) & 31])
        }
        bytes.append(contentsOf: ".part\0".utf8)
        finalStart = bytes.count
        bytes.append(contentsOf: name)
        bytes.append(0)
        self.bytes = bytes
    }

    /// Lends both names to a system call, the unfinished one first.
    @inline(__always)
    func withCStrings(_ call: (UnsafePointer<CChar>, UnsafePointer<CChar>) -> Int32) -> Int32 {
        bytes.withUnsafeBytes { bytes in
            bytes.withMemoryRebound(to: CChar.self) { bytes in
                guard let part = bytes.baseAddress else { return -EINVAL }
                return call(part, part + finalStart)
            }
        }
    }
}
