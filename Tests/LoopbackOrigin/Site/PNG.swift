/// A small valid picture: 16 by 16, RGB, its pixels a byte stream.
enum PNG {
    static func picture(seed: UInt64) -> [UInt8] {
        let pixels = ByteStream(seed: seed).bytes(0..<16 * 16 * 3)
        var rows: [UInt8] = []
        for row in 0..<16 { rows += [0] + pixels[row * 48..<row * 48 + 48] }
        let size: [UInt8] = [0, 0, 0, 16, 0, 0, 0, 16, 8, 2, 0, 0, 0]
        return [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A] + chunk("IHDR", size)
            + chunk("IDAT", Deflate.zlib(Deflate.stored(rows), adler: Adler32.of(rows))) + chunk("IEND", [])
    }

    private static func chunk(_ type: String, _ data: [UInt8]) -> [UInt8] {
        let body = Array(type.utf8) + data
        return big(UInt32(data.count)) + body + big(CRC32.of(body))
    }

    private static func big(_ value: UInt32) -> [UInt8] { Deflate.little(value).reversed() }
}
