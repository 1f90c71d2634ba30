/// How long responses of an origin have been lately, heads included: what a request is charged before its response
/// comes.
struct SizeEstimates {
    private static let mostOrigins = 1024
    private var sizes: [UInt64: Int] = [:]

    /// The size to expect; nil of an origin that nothing is known of.
    func size(of url: String) -> Int? {
        sizes.isEmpty ? nil : sizes[Self.key(url)]
    }

    /// A response has ended.
    mutating func note(_ bytes: Int, of url: String) {
        let key = Self.key(url)
        if let old = sizes[key] {
            sizes[key] = old - old / 4 + bytes / 4
        } else {
            if sizes.count >= Self.mostOrigins { sizes.removeAll(keepingCapacity: true) }
            sizes[key] = bytes
        }
    }

    /// A number for all of the URL before its path: the FNV-1a hash. Origins that share one share their estimate.
    private static func key(_ url: String) -> UInt64 {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        var slashes = 0
        for byte in url.utf8 {
            if byte == UInt8(ascii: "/") {
                slashes += 1
                if slashes == 3 { break }
            }
            hash = (hash ^ UInt64(byte)) &* 0x0100_0000_01b3
        }
        return hash
    }
}
