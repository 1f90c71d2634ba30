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
        var deadline = ScriptDeadline(at: MonotonicClock.now(), processorTime)
        switch try next(before: &deadline).kind {
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
        var deadline = ScriptDeadline(at: MonotonicClock.now(), processorTime)
        // Scripts look up the host with each rule, and one question is to see one address throughout.
        var answers: [[UInt8]: [UInt8]] = [:]
        while true {
            let frame = try next(before: &deadline)
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
                    deadline.postpone(by: began.duration(to: MonotonicClock.now()))
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
    /// - Parameter deadline: When the script has taken too long; later where this process was stopped meanwhile.
    private func next(before deadline: inout ScriptDeadline) throws(Fault) -> ScriptFrame {
        var buffer = [UInt8](repeating: 0, count: 4 << 10)
        while true {
            do throws(ScriptFrame.BadFrame) {
                if let frame = try ScriptFrame.take(from: &received) { return frame }
            } catch {
                throw .died
            }
            let before = MonotonicClock.now()
            let left = max(.zero, before.duration(to: deadline.look))
            let milliseconds = left > .zero ? Int32(clamping: left.clampedNanoseconds / 1_000_000 + 1) : 0
            var watched = pollfd(fd: control.rawValue, events: Int16(POLLIN), revents: 0)
            let found = poll(&watched, 1, milliseconds)
            let now = MonotonicClock.now()
            let late = before.duration(to: now) - left
            if late > Self.latest { deadline.postpone(by: late) }
            guard found > 0 else {
                if left == .zero, deadline.isOver(at: now, processorTime) { throw .tookTooLong }
                continue
            }
            let count = recv(control.rawValue, &buffer, buffer.count, 0)
            if count < 0, errno == EAGAIN || errno == EINTR { continue }
            guard count > 0 else { throw .died }
            received += buffer[..<count]
        }
    }
}
