/// Where a proxy script is: a URL, which may bring user and password for its server, or a path.
package enum ScriptPlace {
    /// What may be written down of a place: a URL without user information (RFC 3986 §3.2.1), a path as it is.
    package static func withoutUser(_ place: String) -> String {
        guard let start = authority(of: place) else { return place }
        return removingUser(from: place, at: start)
    }

    /// What a person is shown of a place: no user information of a URL, nor what may be meant as that in a path, as in
    /// `user:password@host/proxy.pac`.
    package static func shown(_ place: String) -> String {
        if let start = authority(of: place) { return removingUser(from: place, at: start) }
        guard part(of: place, at: place.startIndex).contains(UInt8(ascii: ":")) else { return place }
        return removingUser(from: place, at: place.startIndex)
    }

    /// Where the authority of a URL begins; nil for a path. Too few or too many slashes make no other thing of it, but
    /// with `file`, where no host is needed (RFC 8089 §2).
    private static func authority(of place: String) -> String.Index? {
        guard let colon = place.utf8.firstIndex(of: UInt8(ascii: ":")) else { return nil }
        let scheme = place.utf8[..<colon]
        let rest = place.utf8[colon...].dropFirst()
        // A single letter would be a drive.
        guard scheme.count > 1, scheme.allSatisfy(isSchemeByte), rest.first == UInt8(ascii: "/") else { return nil }
        if String(place[..<colon]).lowercased() == "file" {
            return rest.starts(with: "//".utf8) ? rest.dropFirst(2).startIndex : nil
        }
        return rest.drop { $0 == UInt8(ascii: "/") }.startIndex
    }

    /// What begins there, up to a path, a query or a fragment.
    private static func part(of place: String, at start: String.Index) -> Substring.UTF8View {
        place.utf8[start...].prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
    }

    private static func removingUser(from place: String, at start: String.Index) -> String {
        // A password may hold an at sign: the last one ends it.
        guard let at = part(of: place, at: start).lastIndex(of: UInt8(ascii: "@")) else { return place }
        return String(place[..<start]) + String(place[place.utf8.index(after: at)...])
    }

    /// RFC 3986 §3.1, but for what comes first.
    private static func isSchemeByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."): true
        default: false
        }
    }
}
