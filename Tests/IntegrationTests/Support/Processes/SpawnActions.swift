import Glibc

extension posix_spawn_file_actions_t {
    /// Starts an executable with these actions, with no signal blocked and nothing open but its standard streams.
    ///
    /// - Parameters:
    ///   - arguments: Without the name of the program.
    ///   - environment: All of it; nil is that of the tests.
    ///   - flags: Those of `posix_spawnattr_setflags` that signals have no part in.
    ///   - resetsSignals: Whether no signal is ignored either.
    mutating func start(
        _ executable: String, _ arguments: [String], environment: [String]? = nil, flags: Int32 = 0,
        resetsSignals: Bool = false
    ) throws -> pid_t {
        closeOthers()
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var flags = flags | POSIX_SPAWN_SETSIGMASK
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        if resetsSignals {
            flags |= POSIX_SPAWN_SETSIGDEF
            sigfillset(&signals)
            posix_spawnattr_setsigdefault(&attributes, &signals)
        }
        posix_spawnattr_setflags(&attributes, Int16(flags))
        var argv: [UnsafeMutablePointer<CChar>?] = ([executable] + arguments).map { strdup($0) } + [nil]
        var envp: [UnsafeMutablePointer<CChar>?] = (environment ?? []).map { strdup($0) } + [nil]
        defer { (argv + envp).forEach { free($0) } }
        var pid: pid_t = 0
        let result =
            environment == nil
            ? posix_spawn(&pid, executable, &self, &attributes, &argv, environ)
            : posix_spawn(&pid, executable, &self, &attributes, &argv, &envp)
        guard result == 0 else {
            throw ChildProcess.Failure(description: "\(executable) cannot be started: errno \(result)")
        }
        return pid
    }

    /// Closes everything in the child but its standard streams; to be the last action.
    ///
    /// A server that runs as long as a suite must not hold what belongs to others: an end of a socket that stays open
    /// there is one that another child seems not to have closed.
    mutating func closeOthers() {
        typealias Add = @convention(c) (UnsafeMutablePointer<posix_spawn_file_actions_t>, Int32) -> Int32
        // Of glibc 2.34, hidden from Swift behind a macro.
        guard let symbol = dlsym(nil, "posix_spawn_file_actions_addclosefrom_np") else { return }
        _ = unsafeBitCast(symbol, to: Add.self)(&self, 3)
    }
}
