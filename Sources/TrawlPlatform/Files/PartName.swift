import CTrawlPlatform

/// The temporary name of an unfinished file: `.NAME.RANDOM.part` where a file cannot be without one while it is
/// written, and `.NAME.RANDOM.partial` for what is kept to go on with, which no sweep removes.
enum PartName {
    /// How much of the name it repeats; little enough for file systems with short names.
    private static let repeated = 100
    private static let digits = Array("abcdefghijklmnopqrstuvwxyz234567".utf8)
    /// Five bits each of a random number.
    private static let digitCount = 13
    private static let suffix = Array(".part".utf8)
    private static let keptSuffix = Array(".partial".utf8)

    /// A new name for the part of a file called `name`.
    ///
    /// - Parameter isKept: Whether it is one that is kept.
    static func make(for name: UnsafeRawBufferPointer, isKept: Bool = false) throws(SystemError) -> [UInt8] {
        var random: UInt64 = 0
        _ = try check(cplatform_random(&random, 8), "getrandom")
        let kept = OutputPath.cut(name, to: repeated)
        var bytes = [UInt8]()
        bytes.reserveCapacity(kept + 24)
        bytes.append(UInt8(ascii: "."))
        bytes.append(contentsOf: name[..<kept])
        bytes.append(UInt8(ascii: "."))
        for shift in stride(from: 60, through: 0, by: -5) {
            bytes.append(digits[Int(truncatingIfNeeded: random >> UInt64(shift)) & 31])
        }
        bytes.append(contentsOf: isKept ? keptSuffix : suffix)
        return bytes
    }

    /// Whether a name is exactly such a name.
    static func matches(_ name: UnsafeRawBufferPointer, isKept: Bool = false) -> Bool {
        let suffix = isKept ? keptSuffix : suffix
        let dot = UInt8(ascii: ".")
        let tail = digitCount + suffix.count
        // Two dots around at least one byte of a name.
        guard name.count >= tail + 3, name.count <= tail + 2 + repeated, name[0] == dot,
            name[(name.count - suffix.count)...].elementsEqual(suffix)
        else { return false }
        let random = name.count - tail
        return name[random - 1] == dot && name[random..<random + digitCount].allSatisfy(digits.contains)
    }
}
