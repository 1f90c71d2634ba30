import CTrawlCurl
import Glibc

/// What a process that is a worker and nothing else sets for itself.
package enum ProcessSetup {
    /// No new privileges, as many descriptors as the system allows, and the coordinator's end is seen also when this
    /// process was stopped. What fails is left as it was.
    package static func apply() {
        _ = ccurl_no_new_privileges()
        // Who is stopped sees no end of its socket, and the system continues orphans only where nobody of their session
        // is left to do so (setpgid(2)). The signal already comes when the thread ends that started this process,
        // whatever becomes of its own (prctl(2)). That makes it no good for ending a worker, but SIGCONT is nothing to
        // a process that runs, and one that is stopped then looks for itself.
        _ = ccurl_signal_at_parents_end(SIGCONT)
        // Otherwise blocks of a few hundred KiB go back to the system at once and come again as fresh pages. Those that
        // libcurl frees are kept for it (CTrawlCurl/memory.c), up to 8 MiB; this is for those beyond, as the receive buffers
        // of many transfers over HTTP/2, and for all that is not libcurl's: bodies that are gathered, decoded and packed.
        _ = ccurl_keep_freed_memory(Int32(32 << 20))
        var limit = rlimit()
        let files = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        guard getrlimit(files, &limit) == 0, limit.rlim_cur < limit.rlim_max else { return }
        limit.rlim_cur = limit.rlim_max
        setrlimit(files, &limit)
    }
}
