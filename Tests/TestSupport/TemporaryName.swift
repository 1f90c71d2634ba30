import Glibc

/// Names of directories that `mkdtemp` makes for tests.
package enum TemporaryName {
    /// A template in `$TMPDIR`, else in `/tmp`, so that whoever looks there for what tests leave finds it all.
    package static func template(_ name: String) -> [CChar] {
        let place = getenv("TMPDIR").map { String(cString: $0) } ?? ""
        return Array("\(place.isEmpty ? "/tmp" : place)/trawl-\(name)-XXXXXX".utf8CString)
    }
}
