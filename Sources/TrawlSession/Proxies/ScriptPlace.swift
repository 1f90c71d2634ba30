import TrawlHTTP

/// Where a proxy script is: a URL, which may bring user and password for its server, or a path.
package enum ScriptPlace {
    /// What may be written down of a place: a URL without user information, a path as it is.
    package static func withoutUser(_ place: String) -> String {
        isURL(place) ? UserInformation.removed(from: place) : place
    }

    /// What a person is shown of a place: no user information of a URL, nor what may be meant as that in a path, as in
    /// `user:password@host/proxy.pac`.
    package static func shown(_ place: String) -> String {
        let first = place.utf8.prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        // What ends with its colon is a scheme.
        let mayHaveUser = first.dropLast().contains(UInt8(ascii: ":"))
        return mayHaveUser ? UserInformation.removed(from: place) : withoutUser(place)
    }

    /// The path of a place that is no http or https URL: that of a `file` URL of this machine (RFC 8089 §2), or the place
    /// itself.
    package static func path(of place: String) -> String {
        for prefix in ["file://localhost/", "file:///"] where place.lowercased().hasPrefix(prefix) {
            let encoded = place.utf8.dropFirst(prefix.utf8.count)
            return "/" + String(decoding: PercentEncoding.decoded(encoded), as: UTF8.self)
        }
        return place
    }

    /// Whether it has an authority. Too few or too many slashes make no path of a URL, but with `file`, where no host is
    /// needed (RFC 8089 §2).
    private static func isURL(_ place: String) -> Bool {
        guard let colon = place.utf8.firstIndex(of: UInt8(ascii: ":")) else { return false }
        let scheme = place.utf8[..<colon]
        let rest = place.utf8[colon...].dropFirst()
        // A single letter would be a drive.
        guard scheme.count > 1, scheme.allSatisfy(isSchemeByte), rest.first == UInt8(ascii: "/") else { return false }
        guard String(place[..<colon]).lowercased() == "file" else { return true }
        return rest.starts(with: "//".utf8) && !rest.starts(with: "///".utf8)
    }

    /// RFC 3986 §3.1, but for what comes first.
    private static func isSchemeByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."): true
        default: false
        }
    }
}
