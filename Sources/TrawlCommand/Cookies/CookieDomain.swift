import Trawl
import TrawlHTTP

/// A domain of an argument: a host, a domain with or without a leading dot, or a URL, whose host counts.
struct CookieDomain {
    /// In lower case, without the dot.
    let text: String

    init(_ argument: String) {
        var text = URLText.withoutUserInformation(argument)[...]
        if let scheme = text.range(of: "://") {
            text = text[scheme.upperBound...].prefix { !"/?#".contains($0) }
            // A port is no part of it; the colons of an address are.
            if let colon = text.lastIndex(of: ":"), text[colon...].dropFirst().allSatisfy(\.isNumber),
                text.first != "[" || text[..<colon].last == "]"
            {
                text = text[..<colon]
            }
        }
        if text.first == "." { text.removeFirst() }
        self.text = text.lowercased()
    }

    /// Whether a domain is this one or below it.
    func holds(_ domain: String) -> Bool { domain == text || domain.hasSuffix("." + text) }
}

extension Substring {
    /// Where a text is found first.
    fileprivate func range(of text: String) -> Range<Index>? {
        var start = startIndex
        while start < endIndex {
            if self[start...].hasPrefix(text) { return start..<index(start, offsetBy: text.count) }
            start = index(after: start)
        }
        return nil
    }
}
