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
    var directoryLength: Int { max(0, nameStart - 1) }
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
    }

    private static func checkName(_ name: UnsafeRawBufferPointer) throws(OutputError) {
        let dot = UInt8(ascii: ".")
        guard (1...longestName).contains(name.count) else { throw .invalidPath }
        if name[0] == dot, name.count == 1 || (name.count == 2 && name[1] == dot) { throw .invalidPath }
    }

    /// How many bytes of a name are left when at most `limit` are, without cutting a UTF-8 sequence: some file systems
    /// refuse names that are not UTF-8.
    static func cut(_ name: UnsafeRawBufferPointer, to limit: Int) -> Int {
        guard limit < name.count else { return name.count }
        var kept = max(0, limit)
        while kept > 0, name[kept] & 0xC0 == 0x80 { kept -= 1 }
        return kept
    }

    /// Another path for a file when the component at `obstacle` is no directory: from there on one name.
    ///
    /// A slash becomes `%2F`. A name that would be too long is cut and ends in `~` and a digest of the whole rest, so
    /// that different paths stay different.
    /// - Returns: Nil when there is no room even for that.
    static func detour(_ path: UnsafeRawBufferPointer, at obstacle: Int) -> [UInt8]? {
        let rest = UnsafeRawBufferPointer(rebasing: path[obstacle...])
        var name: [UInt8] = []
        name.reserveCapacity(rest.count + 32)
        for byte in rest {
            if byte == UInt8(ascii: "/") { name += [0x25, 0x32, 0x46] } else { name.append(byte) }
        }
        let room = min(longestName, longestPath - obstacle)
        if name.count > room {
            let digest = digest(rest)
            let kept = name.withUnsafeBytes { cut($0, to: room - digest.count) }
            guard kept > 0 else { return nil }
            name.removeSubrange(kept...)
            name += digest
        }
        return path[..<obstacle] + name
    }

    /// `~` and 16 hexadecimal digits: FNV-1a with 64 bits.
    private static func digest(_ bytes: UnsafeRawBufferPointer) -> [UInt8] {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01b3 }
        let digits = Array("0123456789abcdef".utf8)
        return [UInt8(ascii: "~")] + (0..<16).map { digits[Int(hash >> UInt64(60 - 4 * $0) & 15)] }
    }
}

extension String {
    /// Lends the bytes of the text without copying them.
    @inline(__always)
    func withBytes<Value, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        try utf8Span.span.withUnsafeBytes { (bytes) throws(Failure) in try body(bytes) }
    }
}
