import CTrawlPlatform
import Glibc

/// A thread of our own for blocking C, with a name and with the host's signals blocked.
///
/// A signal handler of the host never runs on it. Signals of faults (SIGSEGV and the like) stay open: they concern only
/// the thread that causes them, and blocking them would take the host's crash report away.
package final class NamedThread: Sendable {
    private enum Life {
        case running(pthread_t)
        case joined
    }

    private let life: Guarded<Life>

    private init(_ thread: pthread_t) {
        life = Guarded(.running(thread))
    }

    /// A thread that was not joined frees itself when it ends.
    deinit {
        life.withLock { life in
            if case .running(let thread) = life { pthread_detach(thread) }
        }
    }

    /// Starts a thread.
    ///
    /// - Parameters:
    ///   - name: As shown by `ps -L` and in crash reports; 1 to 15 bytes.
    ///   - stackSize: In bytes, at least 64 KiB.
    ///   - body: Runs once, on the new thread.
    package static func start(
        name: StaticString, stackSize: Int = 1 << 20, _ body: @escaping @Sendable () -> Void
    ) throws(SystemError) -> NamedThread {
        precondition((1...15).contains(name.utf8CodeUnitCount), "the kernel keeps 15 bytes of a thread's name")
        precondition(stackSize >= 1 << 16, "Swift needs more stack than that")

        var attributes = pthread_attr_t()
        try succeed(pthread_attr_init(&attributes), "pthread_attr_init")
        defer { pthread_attr_destroy(&attributes) }
        try succeed(pthread_attr_setstacksize(&attributes, stackSize), "pthread_attr_setstacksize")

        // A new thread starts with its maker's mask, so it has no moment with the host's signals open.
        var mask = sigset_t()
        var previous = sigset_t()
        sigfillset(&mask)
        for fault in [SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS] { sigdelset(&mask, fault) }
        try succeed(pthread_sigmask(SIG_SETMASK, &mask, &previous), "pthread_sigmask")
        defer { pthread_sigmask(SIG_SETMASK, &previous, nil) }

        let start = Unmanaged.passRetained(Start(name: name, body: body))
        var thread = pthread_t()
        let result = pthread_create(&thread, &attributes, run, start.toOpaque())
        if result != 0 {
            start.release()
            throw SystemError(errno: result, call: "pthread_create")
        }
        return NamedThread(thread)
    }

    /// Whether it is the calling thread.
    package var isCurrent: Bool {
        life.withLock { life in
            if case .running(let thread) = life { pthread_equal(thread, pthread_self()) != 0 } else { false }
        }
    }

    /// Waits until the thread has ended. Not from the thread itself, and by one caller at a time; later calls return at
    /// once.
    package func join() {
        let thread: pthread_t? = life.withLock { life in
            guard case .running(let thread) = life else { return nil }
            life = .joined
            return thread
        }
        guard let thread else { return }
        precondition(pthread_equal(thread, pthread_self()) == 0, "a thread cannot wait for itself")
        pthread_join(thread, nil)
    }

    private static func succeed(_ result: Int32, _ call: StaticString) throws(SystemError) {
        if result != 0 { throw SystemError(errno: result, call: call.description) }
    }
}

/// What a new thread needs to know.
private final class Start: Sendable {
    let name: StaticString
    let body: @Sendable () -> Void

    init(name: StaticString, body: @escaping @Sendable () -> Void) {
        self.name = name
        self.body = body
    }
}

private func run(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let argument else { return nil }
    let start = Unmanaged<Start>.fromOpaque(argument).takeRetainedValue()
    // A name that could not be set is no reason not to run.
    start.name.withUTF8Buffer { name in
        name.withMemoryRebound(to: CChar.self) { name in
            // A static string ends with a zero byte.
            if let base = name.baseAddress { _ = cplatform_name_thread(base) }
        }
    }
    start.body()
    return nil
}
