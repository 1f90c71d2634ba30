import Glibc
import TestSupport

/// Kills the servers that tests started when the process of the tests is killed itself.
///
/// A shell reads from a stream whose other end is held here alone. At its end it kills the process groups that it was
/// told of and not told to forget. It is nobody's child, so that nobody who counts children counts it.
final class ServerWatch: Sendable {
    static let shared = ServerWatch()

    private let stream: Int32

    private static let script = """
        trap '' HUP INT QUIT TERM
        exec 3<&0
        {
            while read -r what group; do
                case $what in
                    +) groups="$groups $group" ;;
                    -) kept=
                       for other in $groups; do [ "$other" = "$group" ] || kept="$kept $other"; done
                       groups=$kept ;;
                esac
            done
            for group in $groups; do kill -s KILL -- "-$group"; done
        } <&3 >/dev/null 2>&1 &
        """

    private init() {
        guard let ends = OwnDescriptors.socketPair() else {
            stream = -1
            return
        }
        stream = ends[0]
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, ends[1], 0)
        actions.closeOthers()
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETPGROUP))
        let arguments: [String] = ["sh", "-c", Self.script]
        var words: [UnsafeMutablePointer<CChar>?] = arguments.map { strdup($0) } + [nil]
        defer { words.forEach { free($0) } }
        var pid: pid_t = 0
        if posix_spawn(&pid, "/bin/sh", &actions, &attributes, &words, environ) == 0 { waitpid(pid, nil, 0) }
        close(ends[1])
    }

    /// Takes charge of a process group.
    func add(_ group: pid_t) { tell("+ \(group)\n") }

    /// The leader of the group has ended and is waited for.
    func remove(_ group: pid_t) { tell("- \(group)\n") }

    private func tell(_ line: String) {
        // So short a message goes as a whole, or not at all when the shell could not be started.
        _ = send(stream, line, line.utf8.count, Int32(MSG_NOSIGNAL))
    }
}
