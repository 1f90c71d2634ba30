import Glibc
import Trawl
import TrawlPlatform

/// How many files and sockets a process may have open, and what that means for fetches at a time.
enum DescriptorLimit {
    /// A transfer has a socket, the request's body where that is long, a file and the file's directory, and libcurl
    /// keeps two idle connections for each transfer (CURLMOPT_MAXCONNECTS), of which it closes one when a transfer
    /// ends, not when one begins.
    private static let perTransfer = 6
    /// What a process has open beside: streams, the control socket, the cache, and the fewest connections and
    /// directories that are kept.
    private static let others = 40

    /// The configuration that fits the limit, which is raised where that is allowed; workers inherit it.
    ///
    /// - Returns: What a person is to know when fewer fetches run at a time than were asked for.
    static func fit(_ configuration: inout Configuration) -> String? {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return nil }
        let needed = rlim_t(
            perTransfer * configuration.transfersPerWorker + others + RecentDirectories.greatestCapacity)
        if limit.rlim_cur < needed {
            limit.rlim_cur = min(limit.rlim_max, needed)
            _ = setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
            guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return nil }
        }
        let most = transfers(within: Int(clamping: limit.rlim_cur))
        guard configuration.transfersPerWorker > most else { return nil }
        configuration.transfersPerWorker = most
        let inAll = min(configuration.transfersInAll, most * configuration.workers)
        return "\(inAll) fetches at a time: more would need more than the \(limit.rlim_cur) open files allowed"
    }

    /// How many transfers a worker may have with that limit.
    static func transfers(within limit: Int) -> Int {
        let directories = min(limit / RecentDirectories.share, RecentDirectories.greatestCapacity)
        return max(1, (limit - directories - others) / perTransfer)
    }

    /// The most long bodies of requests that this process keeps at a time, each in a memory file.
    private static let mostLongBodies = 256

    /// How many it may keep with its limit.
    static func longBodies() -> Int {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return mostLongBodies }
        return longBodies(within: Int(clamping: limit.rlim_cur))
    }

    /// How many a process may keep with that limit: half of what is left, since bodies of responses take some, too.
    static func longBodies(within limit: Int) -> Int {
        min(mostLongBodies, max(1, (limit - others) / 2))
    }
}

extension FetchError {
    /// Whether a worker, or the whole system, had too many files open, no memory for a socket, or no thread to look a
    /// name up: neither the server's fault nor the request's.
    var isShortage: Bool {
        guard case .system(let number) = cause else { return false }
        switch number {
        case EMFILE, ENFILE: return true
        // socket(2), connect(2) and pthread_create(3), "ERRORS".
        case ENOBUFS, ENOMEM, EAGAIN: return code == .cannotConnect || code == .proxy
        default: return false
        }
    }
}
