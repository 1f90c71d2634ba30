import Testing

/// A name space of mounts that a command has of its own, and that ends with it.
enum OwnMount {
    static let missing: Comment = "needs a file system of its own, and this user may not mount one"
    /// Whether this user may mount something in one, found out by doing it.
    static let isAllowed: Bool = {
        let words = ["-m", "sh", "-c", "mount -t tmpfs -o size=1m none \"$0\""]
        guard let directory = try? TemporaryDirectory(),
            let mounting = try? ChildProcess("/usr/bin/unshare", words + [directory.path], errors: "/dev/null")
        else { return false }
        return mounting.exitStatus(within: 30_000) == 0
    }()
}
