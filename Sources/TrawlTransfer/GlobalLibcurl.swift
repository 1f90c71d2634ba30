import CCurl

/// libcurl's state that is one per process.
package enum GlobalLibcurl {
    /// Whether it could be set up; the first caller does it, and nobody undoes it.
    package static let isReady = curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK

    /// Sets it up in a process in which only the calling thread runs transfers: it keeps the memory that libcurl frees
    /// for the next of them.
    ///
    /// A program that has a use for libcurl of its own also has a say in libcurl's memory, so this is for workers'
    /// processes.
    package static func setUpAlone() -> Bool {
        // Where memory is being checked nothing is kept, and the functions are the system's.
        _ = ccurl_memory_keep()
        return ccurl_global_init_keeping_memory(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK
    }
}
