import Foundation
import Glibc
import TestSupport
import Testing

/// A child process that runs a mode of the hammer.
final class CacheChild {
    let pid: Int32
    private let output: FileHandle
    private var isOver = false

    /// The hammer, beside the tests.
    static func hammer() throws -> String {
        let own = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let path = (own as NSString).deletingLastPathComponent + "/StoreHammer"
        try #require(access(path, X_OK) == 0, "the product StoreHammer is missing")
        return path
    }

    convenience init(_ arguments: [String]) throws {
        try self.init(program: Self.hammer(), arguments)
    }

    init(program path: String, _ arguments: [String]) throws {
        let ends = try #require(OwnDescriptors.socketPair())
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        posix_spawn_file_actions_adddup2(&actions, ends[1], 1)
        CacheChild.closeOthers(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        let words: [UnsafeMutablePointer<CChar>?] = ([path] + arguments).map { strdup($0) } + [nil]
        let environment: [UnsafeMutablePointer<CChar>?] = [
            strdup("SWIFT_BACKTRACE=enable=no"), strdup("PATH=/usr/bin:/bin:/usr/sbin:/sbin"), nil,
        ]
        defer { (words + environment).forEach { free($0) } }
        var pid: pid_t = 0
        let result = posix_spawn(&pid, path, &actions, nil, words, environment)
        close(ends[1])
        output = FileHandle(fileDescriptor: ends[0], closeOnDealloc: true)
        self.pid = pid
        try #require(result == 0)
    }

    /// Has the child begin with its standard streams alone: an end that another test closes is not kept open there.
    private static func closeOthers(_ actions: inout posix_spawn_file_actions_t) {
        typealias Add = @convention(c) (UnsafeMutablePointer<posix_spawn_file_actions_t>, Int32) -> Int32
        // Of glibc 2.34, hidden from Swift behind a macro.
        guard let symbol = dlsym(nil, "posix_spawn_file_actions_addclosefrom_np") else { return }
        _ = unsafeBitCast(symbol, to: Add.self)(&actions, 3)
    }

    deinit { if !isOver { _ = kill() } }

    /// The next line it prints; empty at its end.
    func line() -> String {
        var bytes: [UInt8] = []
        while let next = try? output.read(upToCount: 1), let byte = next.first, byte != UInt8(ascii: "\n") {
            bytes.append(byte)
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Kills it and waits for it: the status.
    @discardableResult
    func kill() -> Int32 {
        Glibc.kill(pid, SIGKILL)
        return wait()
    }

    /// Waits for its end: the signal that ended it as a negative number, or its exit status.
    func wait() -> Int32 {
        if isOver { return 0 }
        isOver = true
        var status: Int32 = 0
        while waitpid(pid, &status, 0) < 0, errno == EINTR {}
        let signal = status & 0x7f
        return signal != 0 ? -signal : (status >> 8) & 0xff
    }
}
