import CCurl
import Glibc

/// What a process that is a worker and nothing else sets for itself.
package enum ProcessSetup {
    /// No new privileges, and as many descriptors as the system allows. What fails is left as it was.
    package static func apply() {
        _ = ccurl_no_new_privileges()
        // libcurl allocates its receive buffer anew for every transfer. By default buffers of that size go back to the
        // system at once and come as fresh pages, which was measured at a third of the cost of a small request.
        _ = ccurl_keep_freed_memory(Int32(32 << 20))
        var limit = rlimit()
        let files = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        guard getrlimit(files, &limit) == 0, limit.rlim_cur < limit.rlim_max else { return }
        limit.rlim_cur = limit.rlim_max
        setrlimit(files, &limit)
    }
}
