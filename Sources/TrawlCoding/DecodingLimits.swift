/// How far a body may unfold before decoding is given up.
///
/// Memory needs none of these: decoded bytes pass through buffers of 64 KiB and are never kept here, but for the
/// windows of brotli, which have a bound of their own (`BrotliMemory`). The limits protect time, disk and whoever
/// collects the pieces. Size and ratio hold for the output of every layer, not only of the last
/// one, since a body may also unfold in the middle and shrink again.
package struct DecodingLimits: Sendable, Hashable {
    /// The most codings undone on one body.
    ///
    /// 3 by default. Nobody stacks more than two on purpose. Brotli is undone once at most, whatever this says.
    package var layers: Int
    /// The most bytes any layer may produce.
    ///
    /// 4 GiB by default, which leaves room for data sets served with a content coding. Bodies without one are not
    /// counted; their length is the transfer's business.
    package var decodedBytes: Int
    /// The most bytes a layer may have produced for each byte received, beyond `ratioFloor`.
    ///
    /// 250 by default. Deflate cannot exceed 1032, so a limit near that would let every single-layer bomb pass; text
    /// and markup reach 5 to 20, monotonous logs and tables about 100. Brotli knows no bound worth the name.
    package var ratio: Int
    /// The bytes up to which the ratio is not looked at.
    ///
    /// 8 MiB by default: small bodies of one repeated row are common and harmless.
    package var ratioFloor: Int

    /// Limits with the defaults above where nothing is given. All must be positive, `ratioFloor` may be zero.
    package init(
        layers: Int = 3, decodedBytes: Int = 4 << 30, ratio: Int = 250, ratioFloor: Int = 8 << 20
    ) {
        precondition(layers > 0 && decodedBytes > 0 && ratio > 0 && ratioFloor >= 0, "limits are positive")
        self.layers = layers
        self.decodedBytes = decodedBytes
        self.ratio = ratio
        self.ratioFloor = ratioFloor
    }

    /// The defaults.
    package static let `default` = DecodingLimits()

    /// Throws when a layer has produced more than it may.
    ///
    /// - Parameters:
    ///   - produced: Bytes that came out of the layer so far.
    ///   - consumed: Bytes of the wire that were used up for it.
    func check(produced: Int, consumed: Int) throws(DecodingError) {
        guard produced <= decodedBytes else { throw .tooLarge(limit: decodedBytes) }
        // Divided rather than multiplied: nothing can overflow.
        guard produced <= ratioFloor || produced / ratio <= consumed else { throw .ratioTooHigh(limit: ratio) }
    }
}
