/// The origins that requests went to lately.
///
/// A table of places chosen by a hash. An origin is worth its place from its second request on: in a list of many hosts
/// most are met once.
struct RequestOrigins {
    private struct Place {
        var hash: UInt64 = 0
        var origin: RequestOrigin?
    }

    private var places = [Place](repeating: Place(), count: 256)
    /// The one that was found last: the next request often goes there too.
    private var latest: RequestOrigin?

    /// The origin of a URL, and how long its text is with the slash; nil when the URL is not to be taken apart.
    ///
    /// What libcurl might write in another way than it stands here is left to it: anything but visible ASCII.
    mutating func find(_ url: UnsafeBufferPointer<CChar>) -> (origin: RequestOrigin, length: Int)? {
        if let latest, latest.begins(url) {
            guard Self.isPlain(url[latest.length...]) else { return nil }
            return (latest, latest.length)
        }
        guard let length = Self.originLength(url), Self.isPlain(url[length...]) else { return nil }
        let text = UnsafeBufferPointer(rebasing: url[..<length])
        let hash = Self.hash(text)
        let place = Int(truncatingIfNeeded: hash) & (places.count - 1)
        guard places[place].hash == hash else {
            places[place] = Place(hash: hash)
            return nil
        }
        if let known = places[place].origin, known.isAt(text) {
            latest = known
            return (known, length)
        }
        guard let made = RequestOrigin(text) else { return nil }
        places[place].origin = made
        latest = made
        return (made, length)
    }

    /// How long a URL is up to the slash after its authority.
    private static func originLength(_ url: UnsafeBufferPointer<CChar>) -> Int? {
        var slashes = 0
        for index in url.indices {
            switch UInt8(bitPattern: url[index]) {
            case UInt8(ascii: "/"):
                slashes += 1
                if slashes == 3 { return index + 1 }
            case UInt8(ascii: "?"): return nil
            case let byte: if !isPlain(byte) { return nil }
            }
        }
        return nil
    }

    private static func isPlain(_ text: Slice<UnsafeBufferPointer<CChar>>) -> Bool {
        for byte in text where !isPlain(UInt8(bitPattern: byte)) { return false }
        return true
    }

    /// Whether a byte is visible ASCII and begins no fragment.
    private static func isPlain(_ byte: UInt8) -> Bool {
        byte > 0x20 && byte < 0x7F && byte != UInt8(ascii: "#")
    }

    /// FNV-1a.
    private static func hash(_ text: UnsafeBufferPointer<CChar>) -> UInt64 {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in text { hash = (hash ^ UInt64(UInt8(bitPattern: byte))) &* 0x0100_0000_01b3 }
        return hash ^ hash >> 32
    }
}
