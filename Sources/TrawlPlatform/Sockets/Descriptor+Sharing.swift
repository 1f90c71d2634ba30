import CTrawlPlatform

extension Descriptor {
    /// Puts part of this file into another by letting both share its blocks, where their file system can.
    ///
    /// The part goes where the other file stands, which then stands behind it, as after writing.
    ///
    /// - Parameters:
    ///   - range: From the start of a block to the start of one, or to the end of the file.
    ///   - destination: Open for writing, at the start of a block.
    /// - Returns: False when it has to be written: the files are on different file systems or on one that cannot, or
    ///   `range` does not fit. The bytes behind the place where the destination stands may have changed then.
    package func shareBlocks(_ range: Range<UInt64>, with destination: Int32) -> Bool {
        let place = cplatform_position(destination)
        let (start, count) = (Int64(clamping: range.lowerBound), Int64(clamping: range.count))
        guard place >= 0, cplatform_share_blocks(rawValue, start, count, destination, place) == 0 else { return false }
        return cplatform_set_position(destination, place + count) >= 0
    }
}
