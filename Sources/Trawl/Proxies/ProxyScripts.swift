import Glibc
import TrawlHTTP
import TrawlPlatform
import TrawlSession

/// Asks proxy scripts, on a thread of its own: `trawl-pac`, started with the first question.
///
/// The scripts run in a child without files and network. Answers go to the supervisor's mailbox; what goes wrong is an
/// answer too, and means no proxy for as long as asking again would be of no use.
final class ProxyScripts: Sendable {
    /// A question with the patience of the fetch that asks it.
    private struct Asked {
        let question: Question
        let patience: ScriptPatience
    }

    /// A question: a script, by its place, and an origin.
    struct Question: Sendable, Hashable {
        let place: ExactText
        let origin: Origin

        init(place: String, origin: Origin) {
            self.place = ExactText(place)
            self.origin = origin
        }
    }

    /// What comes of a question.
    enum Answer: Sendable {
        /// What the script said.
        case ways(ProxyList)
        /// It said nothing of use, or could not be asked; it may be otherwise from then on.
        case failure(until: MonotonicInstant)
        /// Its text did not come in this time, which is less than it might have had: no answer to who has more.
        case unanswered(within: ScriptPatience)

        /// The ways to try.
        var list: ProxyList {
            switch self {
            case .ways(let list): list
            case .failure, .unanswered: .direct
            }
        }
    }

    private struct State {
        var questions: [Asked] = []
        /// Those whose answer somebody waits for.
        var awaited: Set<Question> = []
        /// The script whose text is being fetched.
        var loading: (place: ExactText, fetch: RunningFetch)?
        var thread: NamedThread?
        /// The child whose script is asked.
        var child: WorkerProcess?
        /// Whether all scripts are to be looked at again.
        var looksAgain = false
        var isStopped = false
        var problem: FetchError?

        /// Whether somebody waits for what that script says.
        func awaits(_ place: ExactText) -> Bool { awaited.contains { $0.place == place } }
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
    ///
    /// - Parameter patience: That of the fetch that asks: it waits no longer for the script's text than for its own
    ///   response.
    func ask(_ question: Question, patience: ScriptPatience) {
        let isRunning = state.withLock { state in
            guard !state.isStopped else { return false }
            if state.thread == nil {
                state.thread = try? NamedThread.start(name: "trawl-pac") { [self] in run() }
            }
            guard state.thread != nil else { return false }
            state.questions.append(Asked(question: question, patience: patience))
            state.awaited.insert(question)
            return true
        }
        if isRunning { bell.open() } else { mailbox.post(.routed(question, .failure(until: MonotonicClock.now()))) }
    }

    /// Nobody waits for that answer any more: a script's text that is fetched for nobody else is given up (ASI-CAN-03).
    func withdraw(_ question: Question) {
        let loading: RunningFetch? = state.withLock { state in
            state.awaited.remove(question)
            guard let loading = state.loading, loading.place == question.place, !state.awaits(loading.place) else {
                return nil
            }
            return loading.fetch
        }
        if let loading { mailbox.post(.cancel(loading)) }
    }

    /// Has each script looked at again at the next question about it: the network is another one.
    func lookAgain() { state.withLock { $0.looksAgain = true } }

    /// Ends the thread and its child, and waits for that.
    func stop() {
        let (thread, child) = state.withLock { state in
            state.isStopped = true
            return (state.thread, state.child)
        }
        // Its script may reckon for seconds.
        _ = try? child?.signal(SIGKILL)
        guard let thread else { return }
        bell.open()
        thread.join()
    }

    private var isStopped: Bool { state.withLock { $0.isStopped } }

    /// A child is about to be asked: it is killed when the thread is to end.
    private func asks(_ child: WorkerProcess) {
        let isStopped = state.withLock { state in
            state.child = child
            return state.isStopped
        }
        if isStopped { _ = try? child.signal(SIGKILL) }
    }

    private func run() {
        var scripts: [ExactText: LoadedScript] = [:]
        while !isStopped {
            bell.wait()
            // All at once: taking the first out of many would move all others.
            let (questions, looksAgain): ([Asked], Bool) = state.withLock { state in
                defer { (state.questions, state.looksAgain) = ([], false) }
                return (state.questions, state.looksAgain)
            }
            if looksAgain { for script in scripts.values { script.lookAgain() } }
            for asked in questions {
                if isStopped { break }
                let place = asked.question.place
                // Few programs have a second script, and none needs many children for long.
                if scripts[place] == nil, scripts.count >= 4 { scripts.removeAll() }
                let script = scripts[place] ?? LoadedScript(place: place.text)
                scripts[place] = script
                // Who asks a question again that was withdrawn asks it behind this one.
                guard isAwaited(asked.question), let answer = answer(asked, script) else { continue }
                state.withLock { _ = $0.awaited.remove(asked.question) }
                mailbox.post(.routed(asked.question, answer))
            }
        }
        for script in scripts.values { script.process?.end() }
    }

    private func isAwaited(_ question: Question) -> Bool { state.withLock { $0.awaited.contains(question) } }

    /// What comes of a question; nil when it was withdrawn while the script's text was fetched for it.
    private func answer(_ asked: Asked, _ script: LoadedScript) -> Answer? {
        defer { state.withLock { $0.child = nil } }
        do throws(FetchError) {
            let list = try script.find(
                asked.question.origin, configuration, within: asked.patience, asks: { asks($0) },
                isStopped: { isStopped }
            ) {
                place throws(FetchError) in try load(place, asked.patience)
            }
            return .ways(list)
        } catch {
            if error.code == .cancelled { return nil }
            state.withLock { $0.problem = error }
            if let patience = script.lackingPatience { return .unanswered(within: patience) }
            return .failure(until: script.nextLook)
        }
    }

    /// The text of a script, fetched without a proxy or cookies and through the cache, or read.
    private func load(
        _ place: String, _ patience: ScriptPatience
    ) throws(FetchError) -> [UInt8] {
        let lower = place.prefix(8).lowercased()
        guard lower.hasPrefix("http://") || lower.hasPrefix("https://") else { return try ScriptFile.read(place) }
        var request = Request(place)
        request.options.proxy = .direct
        // Many fetches ask it, with jars of their own and without.
        request.options.cookies.jar = .none
        request.options.timeLimits.resource = patience.whole
        request.options.timeLimits.connect = patience.connect
        request.options.timeLimits.inactivity = patience.inactivity
        request.options.sizeLimits.bodyBytes = UInt64(ScriptFile.longest)
        let outcome = OutcomeCell()
        let running = RunningFetch(
            plan: try planner.plan(request, into: .memory, wantsEvents: false), reply: .cell(outcome),
            // Who waits for an answer holds up all that wait for a script, and `sendBlocking` asks nobody.
            asksProgram: false, isAskedFor: false)
        if !mailbox.post(.submit(running)) { running.refuse() }
        let script = ExactText(place)
        let isAwaited = state.withLock { state in
            state.loading = (script, running)
            return state.awaits(script)
        }
        defer { state.withLock { $0.loading = nil } }
        if !isAwaited { mailbox.post(.cancel(running)) }
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
    /// What could not be had is tried again after so long, and then after twice as long each time: a look at a server
    /// that is silent may take as long, and all wait for it.
    private static let patience = Duration.seconds(30)
    /// Questions in a row it may take too long for, or die of. Each costs seconds, and all others wait.
    private static let mostFailures = 3
    private static let longestRest = Duration.seconds(3600)

    private let place: String
    private var text: [UInt8] = []
    private var problem: FetchError?
    /// When it is looked at again, at the next question.
    private(set) var nextLook = MonotonicInstant(nanoseconds: 0)
    /// What was not enough for a text, where there is none because of that.
    private var tried: ScriptPatience?
    private var nextPatience = LoadedScript.patience
    private var failures = 0
    /// How long it rests after the next failure, once there were too many.
    private var rest = LoadedScript.patience
    private(set) var process: ScriptProcess?

    init(place: String) {
        self.place = place
    }

    /// Why there is no text, where it is for want of patience: who has more may fare better.
    var lackingPatience: ScriptPatience? { tried == .longest ? nil : tried }

    /// Looks at it again at the next question.
    func lookAgain() {
        nextLook = MonotonicInstant(nanoseconds: 0)
        nextPatience = Self.patience
    }

    /// - Parameter asks: Is told which child is about to be asked.
    func find(
        _ origin: Origin, _ configuration: Configuration, within patience: ScriptPatience,
        asks: (WorkerProcess) -> Void, isStopped: () -> Bool, load: (String) throws(FetchError) -> [UInt8]
    ) throws(FetchError) -> ProxyList {
        if MonotonicClock.now() >= nextLook || tried?.covers(patience) == false { look(patience, load) }
        if let problem { throw problem }
        let text: String
        do throws(ScriptProcess.Fault) {
            let running: ScriptProcess
            if let process {
                running = process
            } else {
                guard let executable = try? WorkerExecutable(configuration) else {
                    throw .cannotStart("there is no worker executable")
                }
                running = try ScriptProcess(executable, script: self.text)
                process = running
            }
            asks(running.process)
            let port = origin.explicitPort.map { ":\($0)" } ?? ""
            let host = origin.host.hasPrefix("[") ? String(origin.host.dropFirst().dropLast()) : origin.host
            text = try running.find(
                url: "\(origin.scheme)://\(origin.host)\(port)/", host: host, isStopped: isStopped)
            (failures, rest) = (0, Self.patience)
        } catch {
            if error != .threw {
                process?.end()
                process = nil
            }
            let failure = failure(error.text)
            // Each start of a child that cannot work costs as much as the last one.
            if error.isLasting {
                problem = failure
                nextLook = MonotonicClock.now().advanced(by: Self.patience)
            } else if error.isCostly {
                failures += 1
                if failures >= Self.mostFailures {
                    problem = failure
                    nextLook = MonotonicClock.now().advanced(by: rest)
                    rest = min(rest * 2, Self.longestRest)
                }
            }
            throw failure
        }
        guard let list = ProxyList(text) else {
            // What stands before an @ may be a password.
            let shown = text.contains("@") ? "" : ": " + String(text.prefix(100)).terminalSafe
            throw failure("its answer names no proxy" + shown)
        }
        return list
    }

    private func failure(_ text: String) -> FetchError {
        FetchError(.proxy, "the proxy script \(ScriptPlace.shown(place).terminalSafe): \(text)")
    }

    private func look(_ patience: ScriptPatience, _ load: (String) throws(FetchError) -> [UInt8]) {
        tried = nil
        do throws(FetchError) {
            let loaded = ScriptFile.utf8(try load(place))
            if loaded != text || problem != nil {
                process?.end()
                process = nil
            }
            // Another text may be a better one.
            if loaded != text { (failures, rest) = (0, Self.patience) }
            text = loaded
            problem = nil
            nextLook = MonotonicClock.now().advanced(by: Self.freshness)
            nextPatience = Self.patience
        } catch {
            // Given up for want of questions, which says nothing about the script: the next one has it fetched anew.
            if error.code == .cancelled {
                if text.isEmpty { problem = error }
                nextLook = MonotonicInstant(nanoseconds: 0)
                return
            }
            // One that is known goes on.
            if text.isEmpty {
                problem = error
                if error.code == .timeout { tried = patience }
            }
            nextLook = MonotonicClock.now().advanced(by: nextPatience)
            nextPatience = min(nextPatience * 2, Self.freshness)
        }
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

    /// Whether another origin may fare better, but to find that out costs much.
    fileprivate var isCostly: Bool {
        switch self {
        case .tookTooLong, .died: true
        case .cannotStart, .noEngine, .badScript, .threw: false
        }
    }
}
