/// How much framing around a chunked body is accepted.
package struct ChunkLimits: Sendable, Hashable {
    /// The most bytes between the digits of one chunk size and the end of its line. 4 KiB by default.
    package var extensionBytes: Int
    /// The most bytes of extensions in the whole body beyond one for each byte of content. 16 KiB by default.
    ///
    /// Signed chunks and the like stay far below; tiny chunks with fat extensions do not go on for ever.
    package var extensionAllowance: Int
    /// The most bytes in the trailer section. 64 KiB by default. Where libcurl 7.88 reads it along, a line has 4 KiB at
    /// most.
    package var trailerBytes: Int
    /// The most field lines in the trailer section, dropped ones included. 100 by default.
    package var trailerFields: Int

    /// Limits with the defaults above where nothing is given.
    package init(
        extensionBytes: Int = 4 << 10, extensionAllowance: Int = 16 << 10, trailerBytes: Int = 64 << 10,
        trailerFields: Int = 100
    ) {
        precondition(
            extensionBytes >= 0 && extensionAllowance >= 0 && trailerBytes >= 0 && trailerFields >= 0,
            "limits are not negative")
        self.extensionBytes = extensionBytes
        self.extensionAllowance = extensionAllowance
        self.trailerBytes = trailerBytes
        self.trailerFields = trailerFields
    }

    /// The defaults.
    package static let `default` = ChunkLimits()
}
