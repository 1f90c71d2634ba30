import Glibc

extension posix_spawn_file_actions_t {
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
