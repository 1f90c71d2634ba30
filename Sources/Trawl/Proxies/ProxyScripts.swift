import Glibc
import TrawlHTTP
import TrawlPlatform
import TrawlSession

/// Asks proxy scripts, on a thread of its own: `trawl-pac`, started with the first question.
///
/// The scripts run in a child without files and network. Answers go to the supervisor's mailbox; what goes wrong is an
/// answer too, and means no proxy.
final class ProxyScripts: Sendable {
    /// A question: a script, by its place, and an origin.
    struct Question: Sendable, Hashable {
        let place: String
        let origin: Origin
    }

    private struct State {
        var questions: [Question] = []
        var thread: NamedThread?
        var isStopped = false
        var problem: FetchError?
    }

    private let configuration: Configuration
    private let planner: FetchPlanner
    private let mailbox: Mailbox
    private let state = Guarded(State())
    private let bell = WakeUpGate()

    init(_ configuration: Configuration, planner: FetchPlanner, mailbox: Mailbox) {
        self.configuration = configuration
        self.planner = planner
        self.mailbox = mailbox
    }

    /// Why the last script that could not be used could not.
    var problem: FetchError? { state.withLock { $0.problem } }

    /// Asks; the answer comes as a command. From the supervisor's thread.
    func ask(_ question: Question) {
        let isRunning = state.withLock { state in
            guard !state.isStopped else { return false }
            if state.thread == nil {
                state.thread = try? NamedThread.start(name: "trawl-pac") { [self] in run() }
            }
            if state.thread != nil { state.questions.append(question) }
            return state.thread != nil
        }
        if isRunning { bell.open() } else { mailbox.post(.routed(question, .direct)) }
    }

    /// Ends the thread and its child, and waits for that.
    func stop() {
        let thread = state.withLock { state in
            state.isStopped = true
            return state.thread
        }
        guard let thread else { return }
        bell.open()
        thread.join()
    }

    private var isStopped: Bool { state.withLock { $0.isStopped } }

    private func run() {
        var scripts: [String: LoadedScript] = [:]
        while true {
            bell.wait()
            let next: Question? = state.withLock { state in
                state.isStopped || state.questions.isEmpty ? nil : state.questions.removeFirst()
            }
            if isStopped { break }
            guard let next else { continue }
            // Few programs have a second script, and none needs many children for long.
            if scripts[next.place] == nil, scripts.count >= 4 { scripts.removeAll() }
            let script = scripts[next.place] ?? LoadedScript(place: next.place)
            scripts[next.place] = script
            mailbox.post(.routed(next, answer(next, script)))
        }
        for script in scripts.values { script.process?.end() }
    }

    private func answer(_ question: Question, _ script: LoadedScript) -> ProxyList {
        do throws(FetchError) {
            return try script.find(question.origin, configuration, isStopped: { isStopped }, load: load)
        } catch {
            state.withLock { $0.problem = error }
            return .direct
        }
    }

    /// The text of a script, fetched without a proxy and through the cache, or read.
    private func load(_ place: String) throws(FetchError) -> [UInt8] {
        let lower = place.prefix(8).lowercased()
        guard lower.hasPrefix("http://") || lower.hasPrefix("https://") else { return try ScriptFile.read(place) }
        var request = Request(place)
        request.options.proxy = .direct
        request.options.timeLimits.resource = .seconds(20)
        request.options.timeLimits.connect = .seconds(10)
        request.options.sizeLimits.bodyBytes = UInt64(ScriptFile.longest)
        let outcome = OutcomeCell()
        let running = RunningFetch(
            plan: try planner.plan(request, into: .memory, wantsEvents: false), reply: .cell(outcome))
        if !mailbox.post(.submit(running)) { running.refuse() }
        let response = try outcome.waitBlocking().get()
        guard response.isSuccess else {
            throw FetchError(.proxy, "the proxy script's answer is \(response.status)", url: response.url)
        }
        return response.body.bytes
    }
}

/// One script: its text, its child, and when they are looked at again.
///
/// Bound to the thread of `ProxyScripts`.
private final class LoadedScript {
    /// A text is asked for again after so long; the cache knows whether it is sent again.
    private static let freshness = Duration.seconds(300)
    /// What could not be had is tried again after so long.
    private static let patience = Duration.seconds(30)

    private let place: String
    private var text: [UInt8] = []
    private var problem: FetchError?
    private var nextLook = MonotonicInstant(nanoseconds: 0)
    private(set) var process: ScriptProcess?

    init(place: String) {
        self.place = place
    }

    func find(
        _ origin: Origin, _ configuration: Configuration, isStopped: () -> Bool,
        load: (String) throws(FetchError) -> [UInt8]
    ) throws(FetchError) -> ProxyList {
        if MonotonicClock.now() >= nextLook { look(load) }
        if let problem { throw problem }
        do throws(ScriptProcess.Fault) {
            let running: ScriptProcess
            if let process {
                running = process
            } else {
                guard let executable = try? WorkerExecutable(configuration) else {
                    throw .cannotStart("there is no worker executable")
                }
                running = try ScriptProcess(executable, script: text)
                process = running
            }
            let port = origin.explicitPort.map { ":\($0)" } ?? ""
            let host = origin.host.hasPrefix("[") ? String(origin.host.dropFirst().dropLast()) : origin.host
            return ProxyList(
                try running.find(url: "\(origin.scheme)://\(origin.host)\(port)/", host: host, isStopped: isStopped))
        } catch {
            if error != .threw {
                process?.end()
                process = nil
            }
            let failure = FetchError(.proxy, "the proxy script \(place.terminalSafe): \(error.text)")
            // Each start of a child that cannot work costs as much as the last one.
            if error.isLasting {
                problem = failure
                nextLook = MonotonicClock.now().advanced(by: Self.patience)
            }
            throw failure
        }
    }

    private func look(_ load: (String) throws(FetchError) -> [UInt8]) {
        do throws(FetchError) {
            let loaded = ScriptFile.utf8(try load(place))
            if loaded != text || problem != nil {
                process?.end()
                process = nil
            }
            text = loaded
            problem = nil
            nextLook = MonotonicClock.now().advanced(by: Self.freshness)
        } catch {
            // One that is known goes on.
            if text.isEmpty { problem = error }
            nextLook = MonotonicClock.now().advanced(by: Self.patience)
        }
    }
}

/// Scripts in files, and their characters.
enum ScriptFile {
    static let longest = 1 << 20

    /// The bytes of a path or `file` URL.
    static func read(_ place: String) throws(FetchError) -> [UInt8] {
        var path = place
        for prefix in ["file://localhost/", "file:///"] where place.lowercased().hasPrefix(prefix) {
            path = "/" + decoded(place.utf8.dropFirst(prefix.utf8.count))
        }
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw .file(path, errno) }
        defer { close(descriptor) }
        var info = stat()
        guard fstat(descriptor, &info) == 0, info.st_mode & S_IFMT == S_IFREG else { throw .file(path, EINVAL) }
        guard info.st_size <= longest else { throw .file(path, EFBIG) }
        var bytes = [UInt8](repeating: 0, count: Int(info.st_size))
        var count = 0
        while count < bytes.count {
            let got = bytes.withUnsafeMutableBytes {
                pread(descriptor, $0.baseAddress.map { $0 + count }, $0.count - count, off_t(count))
            }
            if got < 0, errno == EINTR { continue }
            guard got >= 0 else { throw .file(path, errno) }
            if got == 0 { break }
            count += got
        }
        return Array(bytes.prefix(count))
    }

    /// A script's bytes as UTF-8: they are taken for Latin-1 when they are none (ASI-PRX-05).
    static func utf8(_ bytes: [UInt8]) -> [UInt8] {
        let bytes = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? Array(bytes.dropFirst(3)) : bytes
        if String(validating: bytes, as: UTF8.self) != nil { return bytes }
        return bytes.flatMap { $0 < 0x80 ? [$0] : [0xC0 | $0 >> 6, 0x80 | $0 & 0x3F] }
    }

    /// RFC 3986 §2.1, for the paths of `file` URLs.
    private static func decoded(_ text: some Sequence<UInt8>) -> String {
        var bytes: [UInt8] = []
        var rest = Array(text)[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%"), let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
            {
                bytes.append(value)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension ScriptProcess.Fault {
    /// What a person is told.
    fileprivate var text: String {
        switch self {
        case .cannotStart(let reason): "its process cannot be started: \(reason)"
        case .noEngine: "duktape is not on this system; its Debian package is libduktape207"
        case .badScript: "it is no script, or fails when it is loaded"
        case .threw: "it fails, or returns no text"
        case .tookTooLong: "it takes too long"
        case .died: "its process has ended"
        }
    }

    /// Whether the next question would meet the same.
    fileprivate var isLasting: Bool {
        switch self {
        case .cannotStart, .noEngine, .badScript: true
        case .threw, .tookTooLong, .died: false
        }
    }
}
