import CTrawlPlatform
import Glibc

/// Keeps the signal of a limit on the length of files (`RLIMIT_FSIZE`) from the calling thread, from its `init` to
/// `release` on the same thread.
///
/// Memory files fall under that limit, too, and without a handler the signal (SIGXFSZ) ends the program. So what is
/// written to one on a thread of a program with the library is kept from it, and the write fails with `EFBIG`.
package struct FileSizeSignal {
    /// What the thread blocked before; nil when the signal was among that, and is not ours to take.
    private let previous: sigset_t?

    /// Blocks it.
    package init() {
        var only = Self.only
        var before = sigset_t()
        let isBlocked = pthread_sigmask(SIG_BLOCK, &only, &before) == 0
        previous = isBlocked && sigismember(&before, SIGXFSZ) == 0 ? before : nil
    }

    /// Takes it, if it came, and lets it through again.
    package func release() {
        guard var before = previous else { return }
        var only = Self.only
        var none = timespec()
        while sigtimedwait(&only, nil, &none) < 0, errno == EINTR {}
        pthread_sigmask(SIG_SETMASK, &before, nil)
    }

    private static var only: sigset_t {
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGXFSZ)
        return signals
    }
}
