import Glibc

/// Whether this program was built with a sanitizer, whose memory is not the program's: it keeps what is freed, and
/// shadows.
package enum Sanitizer {
    /// Whether one is there.
    package static let isPresent = dlsym(nil, "__asan_init") != nil || dlsym(nil, "__tsan_init") != nil
}
