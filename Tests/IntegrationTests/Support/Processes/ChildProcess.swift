import Foundation
import Glibc
import TestSupport
import TrawlPlatform

/// A process a test started, and will end.
///
/// Its standard input is a stream whose other end is held here, so a child that ends with its input never outlives the
/// tests.
final class ChildProcess: Sendable {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    private struct State {
        var input: Int32
        var status: Int32?
    }

    let pid: pid_t
    /// What it writes to standard output; belongs to this object.
    let output: Int32
    private let isServer: Bool
    private let state: Guarded<State>

    /// Starts an executable.
    ///
    /// - Parameters:
    ///   - arguments: Without the name of the program.
    ///   - environment: All of it, but for what a sanitizer is told; nil is that of the tests.
    ///   - errors: A file for standard error; nil shares that of the tests.
    ///   - isServer: Whether it does not care for the end of its input: then it, and what it starts, is killed when the tests are.
    init(
        _ executable: String, _ arguments: [String], environment: [String]? = nil, errors: String? = nil,
        isServer: Bool = false
    ) throws {
        let (inputHere, inputThere) = try Self.pair()
        let outputHere: Int32
        let outputThere: Int32
        do {
            (outputHere, outputThere) = try Self.pair()
        } catch {
            close(inputHere)
            close(inputThere)
            throw error
        }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, inputThere, 0)
        posix_spawn_file_actions_adddup2(&actions, outputThere, 1)
        if let errors {
            posix_spawn_file_actions_addopen(&actions, 2, errors, O_WRONLY | O_CREAT | O_APPEND, 0o600)
        }
        defer {
            close(inputThere)
            close(outputThere)
        }
        do {
            // A server gets a group of its own, for what it starts too.
            pid = try actions.start(
                executable, arguments, environment: environment.map { $0 + Self.sanitizerOptions },
                flags: isServer ? POSIX_SPAWN_SETPGROUP : 0)
        } catch {
            close(inputHere)
            close(outputHere)
            throw error
        }
        self.isServer = isServer
        if isServer { ServerWatch.shared.add(pid) }
        output = outputHere
        state = Guarded(State(input: inputHere))
    }

    private static let sanitizerOptions = ProcessInfo.processInfo.environment
        .filter { $0.key.hasSuffix("SAN_OPTIONS") }.map { "\($0.key)=\($0.value)" }

    /// Two ends of a stream, close-on-exec from birth: no other child inherits them.
    private static func pair() throws -> (Int32, Int32) {
        guard let ends = OwnDescriptors.socketPair() else { throw Failure(description: "socketpair: errno \(errno)") }
        return (ends[0], ends[1])
    }

    deinit {
        end()
        close(output)
    }

    /// Reads a line of standard output; nil at its end or when none comes in time.
    func readLine(within seconds: Int32 = 90) -> String? {
        var line: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 16 << 10)
        var wait = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
        while poll(&wait, 1, seconds * 1000) > 0 {
            // What is behind the line is left there.
            let waiting = recv(output, &piece, piece.count, Int32(MSG_PEEK))
            guard waiting > 0 else { return nil }
            let end = piece[..<waiting].firstIndex(of: 0x0A)
            let count = read(output, &piece, end.map { $0 + 1 } ?? waiting)
            guard count > 0 else { return nil }
            line += piece[..<count]
            if line.last == 0x0A { return String(decoding: line.dropLast(), as: UTF8.self) }
        }
        return nil
    }

    /// Whether it has not ended yet.
    var isRunning: Bool {
        state.withLock { state in
            reap(&state, WNOHANG)
            return state.status == nil
        }
    }

    /// The other end of its standard input, -1 once that was closed; belongs to this object.
    var input: Int32 { state.withLock { $0.input } }

    /// The status it exits with by itself; nil when it does not within the time, or was ended by a signal.
    func exitStatus(within milliseconds: Int32) -> Int32? {
        guard waitForExit(milliseconds) else { return nil }
        return state.withLock { state in
            guard let status = state.status, status >= 0, status & 0x7F == 0 else { return nil }
            return status >> 8 & 0xFF
        }
    }

    /// Gives it the end of its standard input.
    func closeInput() {
        state.withLock { state in
            if state.input >= 0 { close(state.input) }
            state.input = -1
        }
    }

    /// Ends it by the end of its input, then by SIGTERM, then by SIGKILL, and waits for it.
    ///
    /// - Parameter grace: Milliseconds it is given after each of the first two.
    func end(grace: Int32 = 5000) {
        closeInput()
        if waitForExit(grace) { return }
        signal(SIGTERM)
        if waitForExit(grace) { return }
        signal(SIGKILL)
        state.withLock { state in reap(&state, 0) }
    }

    /// Sends a signal, unless it has ended.
    func signal(_ number: Int32) {
        state.withLock { state in
            reap(&state, WNOHANG)
            // Not reaped, so the number is still its own.
            if state.status == nil { kill(pid, number) }
        }
    }

    /// Sends a signal twice: again when the first was taken, since two of a kind that wait are one.
    func signalTwice(_ number: Int32) async {
        signal(number)
        _ = await eventually(within: .seconds(60)) { !ProcessTree.isPending(number, for: pid) }
        signal(number)
    }

    private func waitForExit(_ milliseconds: Int32) -> Bool {
        for _ in 0..<max(1, milliseconds) {
            if !isRunning { return true }
            usleep(1000)
        }
        return false
    }

    private func reap(_ state: inout State, _ flags: Int32) {
        guard state.status == nil else { return }
        var status: Int32 = 0
        let result = waitpid(pid, &status, flags)
        if result == pid { state.status = status } else if result < 0 && errno == ECHILD { state.status = -1 }
        if isServer, state.status != nil { ServerWatch.shared.remove(pid) }
    }
}
