/// Bodies encoded elsewhere: deflate forms by Python's zlib (level 9) with hand-made gzip headers, brotli by
/// `BrotliEncoderCompress` of libbrotlienc 1.0.9.
enum Vectors {
    /// Forty lines of `<i>: a line of text, then another <i * i>.`
    static let text: [UInt8] = (0..<40).flatMap { Array("\($0): a line of text, then another \($0 * $0).\n".utf8) }

    /// `text` as one gzip member without optional header fields.
    static let gzip = bytes(
        """
        1f8b08000000000002038594316ec4300c047bbd420f08048994642bbfb9c2870438f880838b3c3f5c7f602a370b6a77b874fdce
        8ffcfa3d8ffc7ee6ebf8bbbef2f5739cf971bee3fbc9b5a40692569281a497e4205925757a6896344063a3a4091a8f391b390e3f
        3b6866c45aa0d9834eab14ac0a337236cd22d4ad87abe68832f23504be825443e462de262e46b308bbedf245e0dd9471e19ad54c
        62dfc5de887def9a8535dfc39711fb6191d188fdd8829711fb29f646ece73d8bd86fb72f62bfdd19b1f6e2e5c47e89bd13fba53d
        3af6beaa148ec5af6a9863f39beaea034f52fc7da24c87e4b480e6ba4adff9c2959456d086fe17ffccd69ba5e0050000
        """)

    /// The same with FTEXT, FHCRC, FEXTRA, FNAME and FCOMMENT.
    static let gzipAllFields = bytes(
        """
        1f8b081f0000000002030400616200006e616d652e747874006120636f6d6d656e7400d16a8594316ec4300c047bbd420f080489
        94642bbfb9c2870438f880838b3c3f5c7f602a370b6a77b874fdce8ffcfa3d8ffc7ee6ebf8bbbef2f5739cf971bee3fbc9b5a406
        92569281a497e4205925757a6896344063a3a4091a8f391b390e3f3b6866c45aa0d9834eab14ac0a337236cd22d4ad87abe68832
        f23504be825443e462de262e46b308bbedf245e0dd9471e19ad54c62dfc5de887def9a8535dfc39711fb6191d188fdd8829711fb
        29f646ece73d8bd86fb72f62bfdd19b1f6e2e5c47e89bd13fba53d3af6beaa148ec5af6a9863f39beaea034f52fc7da24c87e4b4
        80e6ba4adff9c2959456d086fe17ffccd69ba5e0050000
        """)

    /// `text` in zlib wrapping.
    static let zlib = bytes(
        """
        78da8594316ec4300c047bbd420f08048994642bbfb9c2870438f880838b3c3f5c7f602a370b6a77b874fdce8ffcfa3d8ffc7ee6
        ebf8bbbef2f5739cf971bee3fbc9b5a40692569281a497e4205925757a6896344063a3a4091a8f391b390e3f3b6866c45aa0d983
        4eab14ac0a337236cd22d4ad87abe68832f23504be825443e462de262e46b308bbedf245e0dd9471e19ad54c62dfc5de887def9a
        8535dfc39711fb6191d188fdd8829711fb29f646ece73d8bd86fb72f62bfdd19b1f6e2e5c47e89bd13fba53d3af6beaa148ec5af
        6a9863f39beaea034f52fc7da24c87e4b480e6ba4adff9c2959456d086fe17ff4d42d36c
        """)

    /// `text` as bare deflate data.
    static let bare = bytes(
        """
        8594316ec4300c047bbd420f08048994642bbfb9c2870438f880838b3c3f5c7f602a370b6a77b874fdce8ffcfa3d8ffc7ee6ebf8
        bbbef2f5739cf971bee3fbc9b5a40692569281a497e4205925757a6896344063a3a4091a8f391b390e3f3b6866c45aa0d9834eab
        14ac0a337236cd22d4ad87abe68832f23504be825443e462de262e46b308bbedf245e0dd9471e19ad54c62dfc5de887def9a8535
        dfc39711fb6191d188fdd8829711fb29f646ece73d8bd86fb72f62bfdd19b1f6e2e5c47e89bd13fba53d3af6beaa148ec5af6a98
        63f39beaea034f52fc7da24c87e4b480e6ba4adff9c2959456d086fe17ff
        """)

    /// `text`, quality 11, window 2^22.
    static let brotli = bytes(
        """
        1bdf05088cd31db1989be2e20899d33d4bc7ad17828f26884218cf7f7f23fdf8ae75150e66de34131405bab0882bb859583832d3
        d2750103a2f9ceef733ae9dc4e57fd1ff305bb205c925d15bd08f1d092d9c81b556e22e91c7ec1707c4f8410c448b4494969c425
        4d89432f57b92e459d600fa79a214420e6245bb3a4bc881b9a9217797d2c5d4ed2ed843d3bed0c2181f083a1d8e64a2a1c72495b
        d2d0eba67495447ddc06
        """)

    /// No bytes.
    static let brotliEmpty = bytes(
        """
        06
        """)

    /// 256 MiB of zeros, quality 9, window 2^24.
    static let brotliBomb = bytes(
        """
        cfffff7f002400e2b14072effff9ffff0f8004401c1680eefd3fffffff01900088c302d0bdffe7ffff3f001200715800baf7fffc
        ffff074002200e0b40f7fe9fffffff004800c46101e8defff3ffff1f000980382c00ddfb7ffeffff032001108705a07bffcfffff
        7f002400e2b00074effff9ffff0f8004401c1680eefd3fffffff01900088c302d0bdffe7ffff3f001200715800baf7fffcffff07
        4002200e0b40f7fe9fffffff004800c46101e8defff3ffff1f000980382c00ddfbfffcffff072001108705a07bff0f
        """)

    private static func bytes(_ hexadecimal: String) -> [UInt8] {
        let digits = hexadecimal.compactMap(\.hexDigitValue)
        return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
    }
}
