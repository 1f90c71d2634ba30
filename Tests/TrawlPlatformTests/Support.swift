import Foundation
import Glibc
import Testing
import TrawlHTTP
import TrawlPlatform

/// A directory of a test's own, removed with all it holds.
final class TemporaryDirectory {
    let path: String

    init() throws {
        var template = Array((NSTemporaryDirectory() + "/trawl-platform-XXXXXX").utf8CString)
        let made = template.withUnsafeMutableBufferPointer {
            $0.baseAddress.flatMap { mkdtemp($0) }.map { String(cString: $0) }
        }
        path = try #require(made)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func file(_ name: String) -> String { path + "/" + name }

    /// The names in a sub-directory, or in all when empty, sorted.
    func names(in directory: String = "") throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: file(directory)).sorted()
    }

    /// The start of a file; `nil` when there is none.
    func content(_ name: String) -> String? {
        guard let stream = fopen(file(name), "re") else { return nil }
        defer { fclose(stream) }
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = fread(&bytes, 1, bytes.count, stream)
        return String(decoding: bytes[..<count], as: UTF8.self)
    }

    func put(_ name: String, _ content: String) {
        _ = FileManager.default.createFile(atPath: file(name), contents: Data(content.utf8))
    }

    /// Makes it look as if nobody had written to a file for two hours.
    func age(_ name: String) {
        let past = timespec(tv_sec: time(nil) - 7200, tv_nsec: 0)
        #expect(utimensat(AT_FDCWD, file(name), [past, past], 0) == 0)
    }
}

extension Poller {
    /// Waits for so long at most, for ever when `nil`.
    @discardableResult
    func wait(timeout: Duration?, _ body: (Event) -> Void) throws(SystemError) -> Int {
        let now = MonotonicClock.now()
        return try wait(until: timeout.map { now.advanced(by: $0) }, at: now, body)
    }
}

/// Lends the bytes of a text.
func withBytes<Value>(_ text: String, _ body: (UnsafeRawBufferPointer) throws -> Value) rethrows -> Value {
    try Array(text.utf8).withUnsafeBytes(body)
}

func errorNumber(_ body: () throws -> Void) -> Int32? {
    do {
        try body()
        return nil
    } catch let error as SystemError {
        return error.errno
    } catch OutputError.system(let error) {
        return error.errno
    } catch {
        return -1
    }
}

/// How many descriptors of this process are of the same file.
func openCount(ofTheFileOf fd: Int32) -> Int {
    var wanted = stat()
    fstat(fd, &wanted)
    return (0..<1024 as Range<Int32>).count { number in
        var info = stat()
        return fstat(number, &info) == 0 && info.st_dev == wanted.st_dev && info.st_ino == wanted.st_ino
    }
}

/// Waits for the end of the other side, which a child of another test has open too while it is between fork and exec.
func awaitHangUp(_ fd: Int32) {
    var watched = pollfd(fd: fd, events: 0, revents: 0)
    let count = poll(&watched, 1, 60_000)
    #expect(count == 1)
}

func isCloseOnExec(_ fd: Int32) -> Bool { fcntl(fd, F_GETFD) & FD_CLOEXEC != 0 }

/// Reads a stream to its end, waiting where needed.
func readAll(_ fd: Int32, descriptors: inout [Int32]) throws -> String {
    let poller = try Poller()
    try poller.add(fd, token: 0, interest: .read)
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4096)
    while true {
        let received = try buffer.withUnsafeMutableBytes {
            try ControlSocket.receive(fd, into: $0, descriptors: &descriptors)
        }
        switch received {
        case .bytes(let count): bytes += buffer[..<count]
        case .endOfStream: return String(decoding: bytes, as: UTF8.self)
        case .wouldBlock:
            try #require(try poller.wait(timeout: .seconds(60)) { _ in } > 0, "the other end is silent")
        }
    }
}

/// A shell as a worker.
struct Shell {
    let process: WorkerProcess
    let control: Int32

    /// The script finds its control socket as 3 and the segment as 4.
    init(_ script: String, environment: ProcessEnvironment = ProcessEnvironment(["PATH=/usr/bin:/bin"])) throws {
        let pair = try ControlSocket.pair()
        let segment = try MemoryFile(name: "test-segment")
        process = try WorkerProcess.spawn(
            executable: "/bin/sh", arguments: ["sh", "-c", script], environment: environment,
            control: pair.there, segment: segment.descriptor)
        control = pair.keepingHere().release()
    }

    /// What the script wrote to 3, and how it ended.
    func finish() throws -> (output: String, exit: ProcessExit) {
        defer { close(control) }
        var descriptors: [Int32] = []
        let output = try readAll(control, descriptors: &descriptors)
        return (output, try waitForExit(process))
    }
}

func waitForExit(_ process: WorkerProcess) throws -> ProcessExit {
    let poller = try Poller()
    try poller.add(process.exitDescriptor, token: 7, interest: .read)
    try #require(try poller.wait(timeout: .seconds(60)) { #expect($0.isReadable) } == 1, "the child does not end")
    return try #require(try process.reap())
}

/// Prints the open descriptors and what they are, without those the shell needs for the listing.
let listDescriptors = """
    output=$(readlink /proc/$$/fd/1)
    exec >&3
    echo "0 $(readlink /proc/$$/fd/0)"
    echo "1 $output"
    for f in /proc/$$/fd/*; do
        n=${f##*/}
        [ $n -gt 1 ] && [ -e "$f" ] && echo "$n $(readlink "$f")"
    done
    exit 0
    """
