import Trawl

/// File names made of what comes from the network or a URL.
enum FileName {
    /// Room for a suffix and for what the unfinished file's name adds.
    static let longest = 200

    /// The name for `-O`: the last part of the path as the URL spells it, or `index.html`.
    static func ofURL(_ url: String) -> String {
        var rest = url.prefix { $0 != "?" && $0 != "#" }
        let scheme = rest.prefix { $0 != "/" }
        if scheme.hasSuffix(":"), rest.dropFirst(scheme.count).hasPrefix("//") {
            rest = rest.dropFirst(scheme.count + 2)
        }
        guard let slash = rest.firstIndex(of: "/") else { return "index.html" }
        let path = rest[slash...]
        let last = path.lastIndex(of: "/").map { path[path.index(after: $0)...] } ?? path
        return safe(last) ?? "index.html"
    }

    /// A name that is one: no separators, no control characters, not hidden, not too long; nil when nothing is left.
    static func safe(_ text: some StringProtocol) -> String? {
        var name = ""
        var bytes = 0
        for scalar in text.unicodeScalars {
            let kept: Unicode.Scalar =
                switch scalar.value {
                case 0x2F, 0x5C, 0xFFFD: "_"
                default: scalar.escaped(asASCII: false).unicodeScalars.count == 1 ? scalar : "_"
                }
            bytes += UTF8.width(kept)
            if bytes > longest { break }
            name.unicodeScalars.append(kept)
        }
        if name.isEmpty { return nil }
        // Neither `.`, nor `..`, nor a file that is not seen.
        if name.hasPrefix(".") { name = "_" + name.dropFirst() }
        return name
    }
}

/// Gives each name once: the next file of that name is `name.1`, `name.2` and so on.
///
/// It remembers hashes, so that long lists cost little; should two share one, a suffix comes that was not needed.
struct TakenNames {
    private var next: [Int: UInt32] = [:]

    /// The name to use for `name`.
    mutating func take(_ name: String) -> String {
        var number = next[name.hashValue] ?? 0
        var candidate = number == 0 ? name : "\(name).\(number)"
        while number > 0, next[candidate.hashValue] != nil {
            number += 1
            candidate = "\(name).\(number)"
        }
        next[name.hashValue] = number + 1
        if number > 0 { next[candidate.hashValue] = 1 }
        return candidate
    }
}
