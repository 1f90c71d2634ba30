import Glibc
import TrawlHTTP
import TrawlPlatform

/// A vault behind a program that speaks git's credential format, such as `git credential-store` or a keyring's helper.
///
/// The program is started for each question with `get`, `store` or `erase` as its last argument, gets lines of
/// `name=value` on its standard input and answers the same way. It has no terminal of ours to ask at unless it opens
/// one. One that does not answer in time is killed with all it started, and has nothing to say; so is one whose answer
/// is not waited for any more, because its task was cancelled.
///
/// - Source: gitcredentials(7), git-credential(1) "INPUT/OUTPUT FORMAT".
public struct HelperVault: CredentialVault, AnsweringVault {
    /// The longest answer that is read.
    private static let longestAnswer = 64 << 10

    private let command: [String]
    private let environment: [String]?
    private let timeout: Duration
    private let failures = HelperFailures()

    /// Why the program was of no use when it last was of none; nil when it always was of some. A question whose task is
    /// cancelled says nothing of it.
    public var problem: String? { failures.last }

    /// A vault behind a program.
    ///
    /// - Parameters:
    ///   - command: The program, looked for on `PATH` unless it is a path, and its arguments.
    ///   - environment: Of the program, as `NAME=value`; nil is a copy of this process's.
    ///   - timeout: How long it may take.
    public init(command: [String], environment: [String]? = nil, timeout: Duration = .seconds(10)) {
        self.command = command
        self.environment = environment
        self.timeout = timeout
    }

    /// The credentials of a space, or nil when there are none, or nothing can be had.
    public func credential(for item: VaultItem) async -> Credential? {
        guard case .success(let answer) = await ask("get", lines(of: item, nil)) else { return nil }
        var (user, password): (String?, String?)
        for line in answer.split(separator: UInt8(ascii: "\n")) {
            guard let sign = line.firstIndex(of: UInt8(ascii: "=")) else { continue }
            let value = String(decoding: line[(sign + 1)...], as: UTF8.self)
            switch String(decoding: line[..<sign], as: UTF8.self) {
            case "username": user = value
            case "password": password = value
            case "quit" where value == "1" || value == "true": return nil
            default: break
            }
        }
        guard let user, let password else { return nil }
        return Credential(user: user, password: password)
    }

    /// Keeps credentials, in place of others of their space; ``problem`` tells what failed.
    public func save(_ credential: Credential, for item: VaultItem) async {
        _ = await keep(credential, for: item)
    }

    func keep(_ credential: Credential, for item: VaultItem) async -> String? {
        guard credential.user != nil, !credential.isBearer else {
            return failures.noted("a helper knows users and passwords alone").reason
        }
        switch await ask("store", lines(of: item, credential)) {
        case .success: return nil
        case .failure(let failure): return failure.reason
        }
    }

    /// Forgets the credentials of a space, or of one user there; ``problem`` tells what failed.
    public func remove(_ item: VaultItem) async {
        _ = await ask("erase", lines(of: item, nil))
    }

    /// The format has no question for that.
    public func items() async -> [VaultItem] { [] }

    /// What the program is told; nil when a value has a line's end.
    private func lines(of item: VaultItem, _ credential: Credential?) -> [UInt8]? {
        let port = item.port == (item.scheme == "https" ? 443 : 80) ? "" : ":\(item.port)"
        var values = [("protocol", item.scheme), ("host", item.host + port)]
        // A helper answers for that user alone then, or not at all.
        if let user = credential?.user ?? item.user { values.append(("username", user)) }
        if let credential { values.append(("password", credential.secret ?? "")) }
        // A line's end in a value would be another line.
        if values.contains(where: { $0.1.utf8.contains(UInt8(ascii: "\n")) || $0.1.utf8.contains(0) }) { return nil }
        return Array(values.map { "\($0.0)=\($0.1)\n" }.joined().utf8) + [UInt8(ascii: "\n")]
    }

    /// Runs the program on a thread of its own. It has no answer when it fails, is too slow or says too much.
    ///
    /// - Parameter input: What it is told; nil when no lines can say it.
    private func ask(_ operation: String, _ input: [UInt8]?) async -> Result<[UInt8], NoAnswer> {
        guard !command.isEmpty else { return .failure(failures.noted("no program is named")) }
        guard let input else { return .failure(failures.noted("no helper can be told a line's end")) }
        let call = HelperCall()
        return await withTaskCancellationHandler {
            await withCheckedContinuation { (continuation: CheckedContinuation<Result<[UInt8], NoAnswer>, Never>) in
                do throws(SystemError) {
                    _ = try NamedThread.start(name: "trawl-vault") {
                        continuation.resume(returning: answer(operation, input, call))
                    }
                } catch {
                    continuation.resume(returning: .failure(failures.noted(error)))
                }
            }
        } onCancel: {
            call.stop()
        }
    }

    private func answer(_ operation: String, _ input: [UInt8], _ call: HelperCall) -> Result<[UInt8], NoAnswer> {
        do throws(SystemError) {
            let (found, exit) = try Self.run(command + [operation], environment, input, timeout, call)
            if call.isCancelled { return .failure(NoAnswer(reason: "the helper was given up")) }
            guard let said = found else {
                return .failure(failures.noted("it did not answer in time, or said too much"))
            }
            switch exit {
            case .exited(0): return .success(said)
            case .exited(let status): return .failure(failures.noted("it ended with status \(status)"))
            case .signalled(let number): return .failure(failures.noted("it was ended by signal \(number)"))
            // The program ignores SIGCHLD or waits for any child; the answer was read to its end.
            case .unknown: return .success(said)
            }
        } catch {
            return .failure(failures.noted(error))
        }
    }

    /// As workers are started: in a process group of its own, with nothing of ours but its end of a socket.
    private static func run(
        _ command: [String], _ environment: [String]?, _ input: [UInt8], _ timeout: Duration, _ call: HelperCall
    ) throws(SystemError) -> (answer: [UInt8]?, exit: ProcessExit) {
        // Blocking, as programs expect it of their standard streams.
        var ends: [Int32] = [-1, -1]
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else { throw SystemError(errno: errno, call: "socketpair") }
        let ours = Descriptor(adopting: ends[0])
        let theirs = Descriptor(adopting: ends[1])
        let nothing = open("/dev/null", O_RDWR | O_CLOEXEC)
        guard nothing >= 0 else { throw SystemError(errno: errno, call: "open") }
        let process = try WorkerProcess.spawn(
            executable: "/bin/sh",
            arguments: ["sh", "-c", #"exec "$@" <&3 >&3 3>&- 4>&-"#, "sh"] + command,
            environment: environment.map(ProcessEnvironment.init) ?? .own(), control: theirs,
            segment: Descriptor(adopting: nothing))
        call.began(process)
        try theirs.close()
        let deadline = MonotonicClock.now().advanced(by: timeout)
        let answer = exchange(ours, input, until: deadline)
        if answer == nil { process.signalGroup(SIGKILL) }
        // Its end is taken in any case, so that no dead process stays behind.
        while true {
            if let exit = try process.reap() { return (answer, exit) }
            var watched = pollfd(fd: process.exitDescriptor, events: Int16(POLLIN), revents: 0)
            let rest = MonotonicClock.now().duration(to: deadline)
            if poll(&watched, 1, rest > .zero ? rest.pollMilliseconds : 100) == 0 { process.signalGroup(SIGKILL) }
        }
    }

    /// Sends all, says that it was all, and reads to the end.
    private static func exchange(
        _ socket: borrowing Descriptor, _ input: [UInt8], until deadline: MonotonicInstant
    ) -> [UInt8]? {
        var sent = 0
        var answer: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let rest = MonotonicClock.now().duration(to: deadline)
            guard answer.count <= longestAnswer else { return nil }
            let events = Int16(POLLIN) | (sent < input.count ? Int16(POLLOUT) : 0)
            var watched = pollfd(fd: socket.rawValue, events: events, revents: 0)
            // What is there counts, also where this process was stopped and comes too late.
            let found = poll(&watched, 1, rest > .zero ? rest.pollMilliseconds : 0)
            if found < 0 ? errno != EINTR : found == 0 && rest <= .zero { return nil }
            if watched.revents & Int16(POLLOUT) != 0 {
                let count = input[sent...].withUnsafeBytes {
                    send(
                        socket.rawValue, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
                }
                // Who does not read has perhaps answered already.
                sent = count > 0 ? sent + count : errno == EAGAIN || errno == EINTR ? sent : input.count
                if sent == input.count { shutdown(socket.rawValue, Int32(SHUT_WR)) }
            }
            if watched.revents & Int16(POLLIN | POLLHUP | POLLERR) != 0 {
                let count = recv(socket.rawValue, &buffer, buffer.count, Int32(MSG_DONTWAIT))
                if count > 0 {
                    answer += buffer[..<count]
                } else if count == 0 || errno == ECONNRESET {
                    return answer
                } else if errno != EAGAIN, errno != EINTR {
                    return nil
                }
            }
        }
    }
}

/// One question to a program, which may be given up from any thread.
private final class HelperCall: Sendable {
    private struct State {
        var process: WorkerProcess?
        var isCancelled = false
    }

    private let state = Guarded(State())

    var isCancelled: Bool { state.withLock { $0.isCancelled } }

    func began(_ process: WorkerProcess) {
        let isCancelled = state.withLock { state in
            state.process = process
            return state.isCancelled
        }
        if isCancelled { process.signalGroup(SIGKILL) }
    }

    func stop() {
        let process = state.withLock { state in
            state.isCancelled = true
            return state.process
        }
        process?.signalGroup(SIGKILL)
    }
}

/// Why a question to a program has no answer.
private struct NoAnswer: Error {
    let reason: String
}

/// What went wrong last, of all copies of a vault.
private final class HelperFailures: Sendable {
    private let text = Guarded<String?>(nil)

    var last: String? { text.withLock { $0 } }

    /// The reason, for who asked.
    func noted(_ reason: String) -> NoAnswer {
        text.withLock { $0 = reason }
        return NoAnswer(reason: reason)
    }

    func noted(_ error: SystemError) -> NoAnswer {
        noted("it cannot be started: \(SystemError.text(of: error.errno))")
    }
}

extension Duration {
    /// For poll(2): at least one, so that nobody spins.
    fileprivate var pollMilliseconds: Int32 {
        Int32(clamping: max(1, components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000))
    }
}
