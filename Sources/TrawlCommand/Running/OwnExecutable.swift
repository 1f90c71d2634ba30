import Glibc

/// This program's file, to be started again as a worker.
enum OwnExecutable {
    /// Its path, or the kernel's link to it when the path leads elsewhere by now. What the path leads to later is
    /// looked at for each start.
    static func path() -> String {
        let link = "/proc/self/exe"
        guard let resolved = realpath(link, nil) else { return link }
        defer { free(resolved) }
        var here = stat()
        var there = stat()
        guard stat(link, &here) == 0, stat(resolved, &there) == 0, here.st_dev == there.st_dev,
            here.st_ino == there.st_ino
        else { return link }
        return String(cString: resolved)
    }
}
