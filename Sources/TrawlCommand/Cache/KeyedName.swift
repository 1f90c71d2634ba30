import TrawlCache
import TrawlHTTP
import TrawlStore

/// A file named by what a response is found by: the SHA-256 of its URL in hexadecimal digits, and an extension that
/// says how to open it. What differs by `Vary` has names of its own.
///
/// - Source: the download cache of ASIHTTPRequest (ASI-CACHE-24), which took MD5 and one slash off the URL's end.
enum KeyedName {
    /// Programs on a server, whose extension says nothing of what they make.
    private static let programs: Set = ["asp", "aspx", "jsp", "php", "rb", "py", "pl", "cgi"]
    /// Longer ones are none.
    private static let longestExtension = 16

    /// The name of a response's file; nil when SHA-256 cannot be had.
    static func name(of response: StoredResponse) -> String? {
        var key = Array(response.key.text.utf8)
        let selecting = response.selecting.packed
        // No URL has a zero in it.
        if !selecting.isEmpty { key += [0] + selecting }
        guard let digest = ContentDigest(of: key) else { return nil }
        let ending = TargetURI(key: response.key).map { fileExtension(of: $0.path) } ?? "html"
        return digest.path.filter { $0 != "/" } + "." + ending
    }

    /// The extension for the body of a URL: its own, else that of a page.
    ///
    /// - Parameter path: As in the URL, still percent-encoded.
    static func fileExtension(of path: String) -> String {
        let last =
            path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).last ?? path.utf8[...]
        // A dot in front begins no extension.
        guard let dot = last.lastIndex(of: UInt8(ascii: ".")), dot > last.startIndex else { return "html" }
        let ending = String(Substring(last[last.index(after: dot)...]))
        let isPlain = ending.utf8.allSatisfy { byte in
            UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte || UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte | 0x20
        }
        guard isPlain, (1...longestExtension).contains(ending.utf8.count), !programs.contains(ending.lowercased())
        else { return "html" }
        return ending
    }
}
