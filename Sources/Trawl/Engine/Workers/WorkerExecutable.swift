import Glibc
import TrawlPlatform

/// Which program is started as a worker.
struct WorkerExecutable: Sendable {
    let path: String
    /// Whether it is the program that is running.
    private let isOwnProgram: Bool
    /// All arguments, the program's name first.
    let arguments: [String]
    let environment: ProcessEnvironment
    /// The arguments with which the same program runs a proxy script: the one that says what it is to be is another.
    var scriptArguments: [String] { (arguments.last == "worker" ? Array(arguments.dropLast()) : arguments) + ["pac"] }

    /// The configured executable, else `trawl-worker` beside the running executable, else on `PATH`.
    init(_ configuration: Configuration) throws(FetchError) {
        let path = try Self.find(configuration)
        self.path = path
        isOwnProgram = configuration.workerIsOwnProgram
        arguments = [path] + configuration.workerArguments
        environment = configuration.workerEnvironment.map(ProcessEnvironment.init) ?? .own()
    }

    /// What is to be started now: the kernel's link to the running program where its path leads to another file by now,
    /// or to none. An upgrade while it runs must not give it workers of another build.
    var startPath: String {
        isOwnProgram && !Self.leadsToOwnProgram(path) ? Self.ownLink : path
    }

    private static let ownLink = "/proc/self/exe"

    private static func leadsToOwnProgram(_ path: String) -> Bool {
        var here = stat()
        var there = stat()
        return stat(ownLink, &here) == 0 && stat(path, &there) == 0 && here.st_dev == there.st_dev
            && here.st_ino == there.st_ino
    }

    private static let name = "trawl-worker"

    private static func find(_ configuration: Configuration) throws(FetchError) -> String {
        if let path = configuration.workerExecutable {
            if !configuration.workerIsOwnProgram, let problem = problem(path) {
                throw FetchError(
                    .engineDown,
                    "the worker executable \(path.terminalSafe) cannot be run: \(SystemError.text(of: problem))",
                    cause: .system(problem))
            }
            return path
        }
        var tried: [String] = []
        if let own = ownPath() {
            let directory = own.lastIndex(of: "/").map { String(own[..<$0]) } ?? ""
            let candidate = directory + "/" + name
            if problem(candidate) == nil { return candidate }
            tried.append(candidate)
        }
        if let list = getenv("PATH") {
            for directory in String(cString: list).split(separator: ":") where directory.hasPrefix("/") {
                let candidate = directory + "/" + name
                if problem(candidate) == nil { return candidate }
            }
        }
        throw FetchError(
            .engineDown,
            "no \(name) beside the program (\(tried.joined().terminalSafe)) or on PATH; "
                + "build the product \(name) or set the configuration's workerExecutable",
            cause: .system(ENOENT))
    }

    private static func problem(_ path: String) -> Int32? {
        var info = stat()
        if stat(path, &info) != 0 { return errno }
        if info.st_mode & S_IFMT == S_IFDIR { return EISDIR }
        return access(path, X_OK) == 0 ? nil : errno
    }

    /// The path of the running executable.
    static func ownPath() -> String? {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(PATH_MAX) + 1) { buffer -> String? in
            guard let base = buffer.baseAddress else { return nil }
            let count = readlink("/proc/self/exe", base, buffer.count - 1)
            guard count > 0 else { return nil }
            base[count] = 0
            return String(cString: base)
        }
    }
}
