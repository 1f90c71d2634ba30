import TrawlHTTP

/// The name for `-O`.
enum FileName {
    /// The last part of the path as the URL spells it, made one name that is safe anywhere, or `index.html`.
    ///
    /// Other than in ``URLPath``, where no two URLs share a path, what a name cannot hold is left out.
    static func ofURL(_ url: String) -> String {
        var rest = UserInformation.removed(from: url).prefix { $0 != "?" && $0 != "#" }
        let scheme = rest.prefix { $0 != "/" }
        if scheme.hasSuffix(":"), rest.dropFirst(scheme.count).hasPrefix("//") {
            rest = rest.dropFirst(scheme.count + 2)
        }
        guard let slash = rest.firstIndex(of: "/") else { return "index.html" }
        let path = rest[slash...]
        let last = path.lastIndex(of: "/").map { path[path.index(after: $0)...] } ?? path
        return SuggestedFileName(last)?.text ?? "index.html"
    }
}
