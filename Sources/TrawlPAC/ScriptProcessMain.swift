// TrawlPAC: the process in which a proxy script runs, and what is said to it. The script has memory and time, and asks
// the coordinator for what a name stands for; it reaches no file, no network and no other process.

import CTrawlPAC
import Glibc
import TrawlPlatform

/// A proxy script as a process of its own, as `trawl-worker pac` and as the hidden `trawl pac`.
package enum ScriptProcessMain {
    /// What a script may use.
    private static let memory = 32 << 20
    /// Seconds without a word from the coordinator after which this process ends by itself, should nobody be left to
    /// end it.
    private static let longestRun: UInt32 = 30

    private enum Status {
        static let usage: Int32 = 64
        static let broken: Int32 = 65
        static let internalError: Int32 = 70
    }

    /// Runs on the descriptors the coordinator left: a socket as 3, the script's text as 4. Returns the exit status.
    package static func run() -> Int32 {
        let control = WorkerProcess.controlNumber
        var info = stat()
        guard fstat(control, &info) == 0, info.st_mode & S_IFMT == S_IFSOCK,
            let script = text(of: WorkerProcess.segmentNumber)
        else {
            let text = "This is the process of a proxy script. A coordinator of trawl starts it. Try: trawl --help\n"
            _ = text.withCString { write(2, $0, strlen($0)) }
            return Status.usage
        }
        // It waits here, unlike a worker.
        guard fcntl(control, F_SETFL, 0) == 0 else { return Status.internalError }
        guard let engine = cpac_open(memory, answer, nil) else {
            return ScriptFrame(.noEngine).write(to: control) ? 0 : Status.internalError
        }
        guard cpac_confine() > 0 else { return Status.internalError }
        return serve(engine, script, control)
    }

    private static func serve(_ engine: OpaquePointer, _ script: [UInt8], _ control: Int32) -> Int32 {
        cpac_set_alarm(longestRun)
        let isGood = script.withUnsafeBytes { bytes in
            cpac_run(engine, bytes.baseAddress?.assumingMemoryBound(to: CChar.self), bytes.count) == 0
        }
        cpac_set_alarm(0)
        guard isGood else { return ScriptFrame(.badScript).write(to: control) ? 0 : Status.internalError }
        guard ScriptFrame(.ready).write(to: control) else { return Status.internalError }
        var result = [CChar](repeating: 0, count: 8 << 10)
        while let frame = receive(control) {
            guard frame.kind == .question else { return Status.broken }
            let parts = frame.text.split(separator: 0, maxSplits: 1)
            guard parts.count == 2 else { return Status.broken }
            cpac_set_alarm(longestRun)
            let url = String(decoding: parts[0], as: UTF8.self)
            let host = String(decoding: parts[1], as: UTF8.self)
            let code = cpac_find(engine, url, host, &result, result.count)
            cpac_set_alarm(0)
            let text = result.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
            guard (code == 0 ? ScriptFrame(.result, text) : ScriptFrame(.failure)).write(to: control) else { break }
        }
        return 0
    }

    /// The script's text; nil when the descriptor is no file, or it is longer than a script may be.
    private static func text(of descriptor: Int32) -> [UInt8]? {
        var info = stat()
        guard fstat(descriptor, &info) == 0, info.st_mode & S_IFMT == S_IFREG, info.st_size <= 4 << 20 else {
            return nil
        }
        var bytes = [UInt8](repeating: 0, count: Int(info.st_size))
        let count = pread(descriptor, &bytes, bytes.count, 0)
        return count == bytes.count ? bytes : nil
    }

    /// The next frame; nil when the coordinator is gone.
    private static func receive(_ control: Int32) -> ScriptFrame? {
        var waiting: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4 << 10)
        while true {
            do {
                if let frame = try ScriptFrame.take(from: &waiting) { return frame }
            } catch {
                return nil
            }
            let count = read(control, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return nil }
            waiting += buffer[..<count]
        }
    }

    /// Asks the coordinator on the script's behalf. The alarm rests meanwhile, since lookups do not count as the
    /// script's time, and a coordinator that is stopped answers when it goes on: one that is gone ends the connection.
    private static let answer: cpac_ask = { _, kind, name, room, length in
        guard let name, let room, length > 0 else { return -1 }
        let control = WorkerProcess.controlNumber
        let question = [UInt8(truncatingIfNeeded: kind)] + Array(String(cString: name).utf8)
        cpac_set_alarm(0)
        guard ScriptFrame(.lookup, question).write(to: control), let frame = receive(control), frame.kind == .answer,
            frame.text.count < length
        else { return -1 }
        cpac_set_alarm(longestRun)
        frame.text.withUnsafeBytes { text in
            if let base = text.baseAddress { memcpy(room, base, text.count) }
        }
        return Int32(frame.text.count)
    }
}
