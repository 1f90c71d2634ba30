import Glibc
import TestSupport
import Testing
import TrawlHTTP
import TrawlJSON
import TrawlPlatform

@testable import TrawlCommand

@Suite("The file of results")
struct ResultsFileTests {
    private func records(_ texts: [String]) -> JSONWriter {
        var writer = JSONWriter()
        for text in texts {
            Array(text.utf8).withUnsafeBytes { writer.raw($0) }
            writer.endLine()
        }
        return writer
    }

    private func read(_ file: ResultsFile) throws -> [String] {
        var lines: [String] = []
        try file.readRecords { line, bytes in
            lines.append(String(decoding: bytes, as: UTF8.self))
            #expect(line == lines.count)
        }
        return lines
    }

    @Test("a file that lost its name, or whose name another has, is noticed within a second")
    func inPlace() throws {
        let directory = try ScratchDirectory()
        func at(_ seconds: UInt64) -> MonotonicInstant { MonotonicInstant(nanoseconds: seconds * 1_000_000_000) }
        let file = try ResultsFile(directory.path + "/results")
        #expect(file.isInPlace(at: at(10)))
        try directory.put("other", "")
        rename(directory.path + "/other", directory.path + "/results")
        #expect(file.isInPlace(at: at(10)))
        #expect(!file.isInPlace(at: at(11)))
        unlink(directory.path + "/results")
        #expect(!file.isInPlace(at: at(12)))
    }

    // In a process of its own, which ceases to be root.
    @Test("a file that cannot be looked for now is not gone")
    func unreachable() async throws {
        let directory = try ScratchDirectory()
        let path: String = directory.path
        await #expect(processExitsWith: .success) { [path = path as String] in
            func at(_ seconds: UInt64) -> MonotonicInstant { MonotonicInstant(nanoseconds: seconds * 1_000_000_000) }
            let file = try ResultsFile(path + "/results")
            let user = geteuid()
            chmod(path, 0)
            if user == 0 { seteuid(65534) }
            var info = stat()
            guard stat(path + "/results", &info) != 0, errno == EACCES else { exit(1) }
            let isInPlace = file.isInPlace(at: at(10))
            if user == 0 { seteuid(0) }
            chmod(path, 0o700)
            guard isInPlace, file.isInPlace(at: at(11)) else { exit(2) }
            unlink(path + "/results")
            if file.isInPlace(at: at(12)) { exit(3) }
        }
        withExtendedLifetime(directory) {}
    }

    @Test("records are appended after those that are there")
    func appends() throws {
        let directory = try ScratchDirectory()
        do {
            let file = try ResultsFile(directory.path + "/results")
            #expect(!file.isOfEarlierRun && file.cutOff == 0)
            try file.append(records([#"{"v":1,"a":1}"#]))
        }
        let file = try ResultsFile(directory.path + "/results")
        #expect(file.isOfEarlierRun)
        #expect(try read(file) == [#"{"v":1,"a":1}"#])
        try file.append(records([#"{"v":1,"a":2}"#, #"{"v":1,"a":3}"#]))
        #expect(
            directory.text("results") == #"{"v":1,"a":1}"# + "\n" + #"{"v":1,"a":2}"# + "\n" + #"{"v":1,"a":3}"# + "\n")
    }

    @Test("one run at a time has it")
    func lock() throws {
        let directory = try ScratchDirectory()
        let first = try ResultsFile(directory.path + "/results")
        let error = #expect(throws: CommandError.self) { try ResultsFile(directory.path + "/results") }
        #expect(error?.status == ExitStatus.cannotCreate)
        #expect(error?.message.contains("in use by another run") == true)
        withExtendedLifetime(first) {}
    }

    @Test("the next run has it, although a process that is being started has a copy of its descriptor")
    func copied() throws {
        let directory = try ScratchDirectory()
        let path = directory.path + "/results"
        var copies: [Int32] = []
        defer { for copy in copies { close(copy) } }
        do {
            let file = try ResultsFile(path)
            copies = try OpenDescriptors.copies(of: path)
            #expect(copies.count == 1)
            withExtendedLifetime(file) {}
        }
        _ = try ResultsFile(path)
    }

    @Test("where the file system has no locks it is used without one", arguments: [ENOSYS, ENOLCK, EOPNOTSUPP])
    func noLocks(number: Int32) throws {
        let directory = try ScratchDirectory()
        let path = directory.path + "/results"
        #expect(try ResultsFile(path).missingLock == nil)
        let file = try ResultsFile(path) { _ in number }
        #expect(file.missingLock == number)
        try file.append(records([#"{"v":1}"#]))
        #expect(directory.text("results") == #"{"v":1}"# + "\n")
    }

    @Test("a lock that fails in another way is named")
    func brokenLock() throws {
        let directory = try ScratchDirectory()
        let error = #expect(throws: CommandError.self) { try ResultsFile(directory.path + "/results") { _ in EIO } }
        #expect(error?.status == ExitStatus.cannotCreate)
        #expect(error?.message.hasSuffix("/results: cannot be locked: Input/output error") == true)
    }

    @Test("an empty file that was there is an earlier run's, which may have left files")
    func empty() throws {
        let directory = try ScratchDirectory()
        try directory.put("results", "")
        #expect(try ResultsFile(directory.path + "/results").isOfEarlierRun)
    }

    @Test("a record that is cut off anywhere goes, the others stay")
    func tornEnd() throws {
        let whole = #"{"v":1,"key":"a"}"# + "\n"
        let last = #"{"v":1,"key":"b"}"#
        for length in 0...last.utf8.count {
            let directory = try ScratchDirectory()
            try directory.put("results", whole + last.prefix(length))
            let file = try ResultsFile(directory.path + "/results")
            #expect(file.cutOff == Int64(length))
            #expect(directory.text("results") == whole)
        }
        for length in 1...last.utf8.count {
            let directory = try ScratchDirectory()
            try directory.put("results", String(last.prefix(length)))
            #expect(try ResultsFile(directory.path + "/results").cutOff == Int64(length))
            #expect(directory.text("results").isEmpty)
        }
    }

    @Test("a long unfinished end is cut off, too")
    func longTornEnd() throws {
        let directory = try ScratchDirectory()
        let whole = #"{"v":1,"key":"a"}"# + "\n"
        try directory.put("results", whole + #"{"v":1,"x":""# + String(repeating: "x", count: 200_000))
        #expect(try ResultsFile(directory.path + "/results").cutOff == 200_012)
        #expect(directory.text("results") == whole)
    }

    @Test("the list is no results file, by whatever name, and is left as it is", arguments: ["results", "list"])
    func list(name: String) throws {
        let directory = try ScratchDirectory()
        // The end would be cut off.
        let content = #"{"v":1,"key":"a"}"# + "\n" + #"{"v":1,"#
        try directory.put("results", content)
        link(directory.path + "/results", directory.path + "/list")
        let list = try ListReader(directory.path + "/" + name)
        let error = #expect(throws: CommandError.self) {
            try ResultsFile(directory.path + "/results", list: list.descriptor)
        }
        #expect(error?.status == ExitStatus.usage)
        #expect(error?.message == "\(directory.path)/results: list and results are one file")
        #expect(directory.text("results") == content)
        withExtendedLifetime(list) {}
    }

    @Test("a list beside the results is another file")
    func otherList() throws {
        let directory = try ScratchDirectory()
        try directory.put("list", "http://h/\n")
        let list = try ListReader(directory.path + "/list")
        let file = try ResultsFile(directory.path + "/results", list: list.descriptor)
        #expect(!file.isOfEarlierRun)
        withExtendedLifetime(list) {}
    }

    @Test(
        "a file of something else is left as it is", arguments: ["x", "{}\n", #"{"v":2,"key":"a"}"#, "\n", #"{"v":12"#])
    func foreign(content: String) throws {
        let directory = try ScratchDirectory()
        try directory.put("results", content)
        #expect(throws: CommandError.self) { try ResultsFile(directory.path + "/results") }
        #expect(directory.text("results") == content)
    }

    @Test(
        "records that another program has written anew are records",
        arguments: [
            #"{"v": 1, "key": "a"}"#, #" { "key" : "a" , "v" : 1 }"#, #"{"v":1 }"#, #"{"v":1.0,"key":"a"}"#,
        ])
    func writtenAnew(record: String) throws {
        let directory = try ScratchDirectory()
        try directory.put("results", record + "\n" + #"{"v": 1, "ke"#)
        let file = try ResultsFile(directory.path + "/results")
        #expect(try read(file) == [record])
        #expect(directory.text("results") == record + "\n")
        // Before its line is whole, it may be anything.
        let other = try ScratchDirectory()
        try other.put("results", record)
        #expect(throws: CommandError.self) { try ResultsFile(other.path + "/results") }
        #expect(other.text("results") == record)
    }

    @Test(
        "records of another version are called so",
        arguments: [#"{"v":2,"key":"a"}"#, #"{"v":12"#, #"{"v": 2, "key": "a"}"# + "\n"])
    func otherVersion(content: String) throws {
        let directory = try ScratchDirectory()
        try directory.put("results", content)
        let error = #expect(throws: CommandError.self) { try ResultsFile(directory.path + "/results") }
        #expect(error?.message.contains("of a version that this program does not know") == true)
    }

    @Test("records across the borders of what is read at a time come whole", arguments: [-2, -1, 0, 1, 2])
    func borders(shift: Int) throws {
        let directory = try ScratchDirectory()
        let start = #"{"v":1,"x":""#
        // Ends about where the first piece of a MiB does; one longer than two pieces; short ones.
        let first = start + String(repeating: "a", count: (1 << 20) + shift - start.utf8.count - 3) + #""}"#
        let long = start + String(repeating: "b", count: (5 << 19) + shift) + #""}"#
        let lines = [first, "", long, #"{"v":1}"#]
        try directory.put("results", lines.joined(separator: "\n") + "\n")
        let file = try ResultsFile(directory.path + "/results")
        #expect(try read(file) == lines)
    }

    @Test("a write that fails half-way leaves whole records, and what is written later follows them")
    func failedWrite() async throws {
        await #expect(processExitsWith: .success) {
            signal(SIGXFSZ, SIG_IGN)
            let directory = try ScratchDirectory()
            let file = try ResultsFile(directory.path + "/results")
            var writer = JSONWriter()
            func add(_ count: Int) {
                writer.removeAll()
                for _ in 0..<count {
                    Array(#"{"v":1,"key":"0123456789"}"#.utf8).withUnsafeBytes { writer.raw($0) }
                    writer.endLine()
                }
            }
            add(3)
            try file.append(writer)
            // Records are 27 bytes: the fifth does not fit.
            var limit = rlimit(rlim_cur: 120, rlim_max: rlim_t.max)
            setrlimit(__rlimit_resource_t(1), &limit)
            add(3)
            var failure: SystemError?
            do throws(SystemError) { try file.append(writer) } catch { failure = error }
            limit.rlim_cur = .max
            setrlimit(__rlimit_resource_t(1), &limit)
            let kept = directory.text("results")
            add(1)
            try file.append(writer)
            let later = directory.text("results")
            guard failure?.errno == EFBIG, kept.utf8.count == 4 * 27, later.utf8.count == 5 * 27 else { exit(1) }
        }
    }

    @Test("a write that fails after somebody cut the file off leaves it so")
    func cutOff() async throws {
        await #expect(processExitsWith: .success) {
            signal(SIGXFSZ, SIG_IGN)
            let directory = try ScratchDirectory()
            let file = try ResultsFile(directory.path + "/results")
            var writer = JSONWriter()
            for _ in 0..<3 {
                Array(#"{"v":1,"key":"0123456789"}"#.utf8).withUnsafeBytes { writer.raw($0) }
                writer.endLine()
            }
            try file.append(writer)
            truncate(directory.path + "/results", 0)
            var limit = rlimit(rlim_cur: 20, rlim_max: rlim_t.max)
            setrlimit(__rlimit_resource_t(1), &limit)
            var failure: SystemError?
            do throws(SystemError) { try file.append(writer) } catch { failure = error }
            guard failure?.errno == EFBIG, directory.text("results").utf8.count == 20 else { exit(1) }
        }
    }

    // In a process of its own, whose descriptors it closes.
    @Test("what closing the file says is asked at the end")
    func closing() async throws {
        let directory = try ScratchDirectory()
        let path: String = directory.path + "/results"
        await #expect(processExitsWith: .success) { [path = path as String] in
            let outputs = BatchOutputs(try ResultsFile(path), nil)
            guard outputs.close() == nil else { exit(1) }
            var (named, open) = (stat(), stat())
            stat(path, &named)
            // No other thread opens anything under the number that gets free.
            var limit = rlimit()
            getrlimit(__rlimit_resource_t(7), &limit)
            var none = rlimit(rlim_cur: 3, rlim_max: limit.rlim_max)
            setrlimit(__rlimit_resource_t(7), &none)
            // What cannot be closed stands for what was not stored.
            for number in 3..<256 as Range<Int32> where fstat(number, &open) == 0 && open.st_ino == named.st_ino {
                if open.st_dev == named.st_dev { close(number) }
            }
            guard case .broken(let message) = outputs.close(), message.hasSuffix("/results: Bad file descriptor") else {
                exit(2)
            }
            setrlimit(__rlimit_resource_t(7), &limit)
            // The end of the object would close a number that is no longer its own.
            exit(0)
        }
        withExtendedLifetime(directory) {}
    }

    @Test("a device without room says so, and is no earlier run's")
    func fullDevice() throws {
        let file = try ResultsFile("/dev/full")
        #expect(!file.isOfEarlierRun)
        let error = #expect(throws: SystemError.self) { try file.append(records(["{}"])) }
        #expect(error?.errno == ENOSPC)
    }

    @Test("what cannot be a file of results is refused", arguments: ["/", "/nonexistent/results", "/dev/null/x"])
    func impossible(path: String) {
        let error = #expect(throws: CommandError.self) { try ResultsFile(path) }
        #expect(error?.status == ExitStatus.cannotCreate)
    }
}
