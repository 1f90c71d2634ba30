import Glibc
import TrawlHTTP
import TrawlPAC
import TrawlPlatform

/// The child a proxy script runs in, as its coordinator's thread for scripts sees it.
///
/// Bound to that thread, which has all signals blocked, so that a child that is gone is no signal.
final class ScriptProcess {
    /// Why a script has no answer.
    enum Fault: Error, Equatable {
        case cannotStart(String)
        case noEngine
        case badScript
        case threw
        case tookTooLong
        case died
    }

    /// How long the script may reckon about one question, as its process's time on a processor.
    static let longestRun = Duration.seconds(5)
    /// How long that may take where processors are busy, lookups of names not counted.
    private static let longestWait = Duration.seconds(15)
    private static let longestLookup = Duration.seconds(3)
    /// How much later than it should a wait may end without a stop.
    private static let latest = Duration.seconds(1)
    /// Different lookups that one question may want. Each may cost seconds; one that is wanted again costs nothing.
    private static let mostLookups = 64

    let process: WorkerProcess
    private let control: Descriptor
    private var received: [UInt8] = []
    /// Whether the child has taken its script.
    private var isReady = false

    /// Starts the child with a script.
    init(_ executable: WorkerExecutable, script: [UInt8]) throws(Fault) {
        do throws(SystemError) {
            let sockets = try ControlSocket.pair()
            let file = try MemoryFile(name: "trawl-pac")
            let written: Result<Void, SystemError> = script.withUnsafeBytes { bytes in
                do throws(SystemError) {
                    return .success(try file.write(bytes))
                } catch {
                    return .failure(error)
                }
            }
            try written.get()
            try file.seal()
            process = try WorkerProcess.spawn(
                executable: executable.startPath, arguments: executable.scriptArguments,
                environment: executable.environment.keeping(["TZ", "LD_LIBRARY_PATH"]),
                control: sockets.there, segment: file.descriptor)
            control = sockets.keepingHere()
        } catch {
            throw .cannotStart("\(error)")
        }
    }

    deinit { end() }

    /// Waits until the child has taken its script.
    private func getReady() throws(Fault) {
        if isReady { return }
        var limit = limitFromNow()
        switch try next(within: &limit).kind {
        case .ready: isReady = true
        case .noEngine: throw .noEngine
        case .badScript: throw .badScript
        case .question, .answer, .lookup, .result, .failure: throw .died
        }
    }

    /// Asks the script about a URL. After an error other than `threw` the child is of no more use.
    func find(url: String, host: String, isStopped: () -> Bool) throws(Fault) -> String {
        try getReady()
        let question = ScriptFrame(.question, Array(url.utf8) + [0] + Array(host.utf8))
        // The child would take it for the end of the connection: the URL is at fault, and neither script nor child.
        guard question.text.count <= ScriptFrame.longest else { throw .threw }
        guard question.write(to: control.rawValue) else { throw .died }
        var limit = limitFromNow()
        // Scripts look up the host with each rule, and one question is to see one address throughout.
        var answers: [[UInt8]: [UInt8]] = [:]
        while true {
            let frame = try next(within: &limit)
            switch frame.kind {
            case .result: return String(decoding: frame.text, as: UTF8.self)
            case .failure: throw .threw
            case .lookup:
                if isStopped() { throw .tookTooLong }
                let answer: [UInt8]
                if let known = answers[frame.text] {
                    answer = known
                } else {
                    guard answers.count < Self.mostLookups else { throw .tookTooLong }
                    let began = MonotonicClock.now()
                    answer = Self.answer(frame.text)
                    answers[frame.text] = answer
                    limit.wait(for: began.duration(to: MonotonicClock.now()))
                }
                guard ScriptFrame(.answer, answer).write(to: control.rawValue) else { throw .died }
            case .question, .answer, .ready, .noEngine, .badScript: throw .died
            }
        }
    }

    /// Ends the child, whatever it does, and waits for that.
    func end() {
        _ = try? process.signal(SIGKILL)
        var watched = pollfd(fd: process.exitDescriptor, events: Int16(POLLIN), revents: 0)
        while (try? process.reap()) == .some(.none), poll(&watched, 1, 1000) >= 0 || errno == EINTR {}
    }

    private static func answer(_ question: [UInt8]) -> [UInt8] {
        let name = String(decoding: question.dropFirst(), as: UTF8.self)
        let text: String? =
            switch question.first {
            case UInt8(ascii: "4"): NameLookup.addresses(of: name, ipv4Only: true, within: longestLookup)
            case UInt8(ascii: "x"): NameLookup.addresses(of: name, ipv4Only: false, within: longestLookup)
            case UInt8(ascii: "m"): NameLookup.ownAddress(ipv6: false)
            case UInt8(ascii: "M"):
                [NameLookup.ownAddress(ipv6: true), NameLookup.ownAddress(ipv6: false)].compactMap { $0 }
                    .joined(separator: ";")
            default: nil
            }
        return Array((text ?? "").utf8)
    }

    /// How long the child may take for an answer, from now on.
    private struct Limit {
        /// When to look how much of its time the child has had.
        var look: MonotonicInstant
        /// When it has taken too long whatever it had.
        var end: MonotonicInstant
        /// The child's time on a processor at which it has taken too long.
        let time: Duration

        /// Something else took that long.
        mutating func wait(for time: Duration) {
            look = look.advanced(by: time)
            end = end.advanced(by: time)
        }
    }

    private func limitFromNow() -> Limit {
        let now = MonotonicClock.now()
        return Limit(
            look: now.advanced(by: Self.longestRun), end: now.advanced(by: Self.longestWait),
            time: processorTime + Self.longestRun)
    }

    /// What the child has had of processors.
    private var processorTime: Duration {
        var (clock, time) = (clockid_t(), timespec())
        guard clock_getcpuclockid(process.processID, &clock) == 0, clock_gettime(clock, &time) == 0 else {
            return .zero
        }
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }

    /// The next frame.
    ///
    /// - Parameter limit: When the script has taken too long; later where this process was stopped meanwhile.
    private func next(within limit: inout Limit) throws(Fault) -> ScriptFrame {
        var buffer = [UInt8](repeating: 0, count: 4 << 10)
        while true {
            do throws(ScriptFrame.BadFrame) {
                if let frame = try ScriptFrame.take(from: &received) { return frame }
            } catch {
                throw .died
            }
            let before = MonotonicClock.now()
            let left = max(.zero, before.duration(to: limit.look))
            let milliseconds = left > .zero ? Int32(clamping: left.clampedNanoseconds / 1_000_000 + 1) : 0
            var watched = pollfd(fd: control.rawValue, events: Int16(POLLIN), revents: 0)
            let found = poll(&watched, 1, milliseconds)
            let waited = before.duration(to: MonotonicClock.now())
            if waited > left + Self.latest { limit.wait(for: waited - left) }
            guard found > 0 else {
                let now = MonotonicClock.now()
                if left == .zero {
                    let unused = limit.time - processorTime
                    guard unused > .zero, now < limit.end else { throw .tookTooLong }
                    limit.look = min(limit.end, now.advanced(by: unused))
                }
                continue
            }
            let count = recv(control.rawValue, &buffer, buffer.count, 0)
            if count < 0, errno == EAGAIN || errno == EINTR { continue }
            guard count > 0 else { throw .died }
            received += buffer[..<count]
        }
    }
}
