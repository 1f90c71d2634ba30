import CTrawlCurl
import Glibc
import TrawlPlatform

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

    /// Why the library could not be loaded, in the dynamic loader's words; nil when it could.
    package static var loadProblem: String? {
        guard ccurl_load() != 0 else { return nil }
        return String(cString: ccurl_load_problem())
    }

    /// Whether a library that could not be loaded may be loaded by another process, a moment later.
    ///
    /// - Parameter problem: The loader's words, which end by the system's for the error number (dlerror of glibc).
    package static func mayPass(_ problem: String) -> Bool {
        [ENOMEM, EMFILE, ENFILE, EIO].contains { problem.hasSuffix(SystemError(errno: $0, call: "").description) }
    }
}
