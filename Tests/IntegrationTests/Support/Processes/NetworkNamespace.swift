import Foundation
import Glibc
import Testing

/// A network of a test's own: a shell as root of new user, network and mount namespaces, which takes commands.
///
/// What it starts ends with it, since it is the first process of a process namespace too.
final class NetworkNamespace: Sendable {
    static let missing: Comment = "the kernel does not let this user have namespaces, or ip(8) is not installed"
    /// Whether links can be made in one, found out by making one.
    static let isAllowed: Bool = {
        guard let namespace = try? NetworkNamespace() else { return false }
        return (try? namespace.run("ip link add probe0 type veth peer name probe1")) != nil
    }()

    /// A command that failed.
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    private static let end = "--- done "
    private let shell: ChildProcess
    private let lock = NSLock()

    /// An empty network; its loopback interface is up.
    init() throws {
        let places: [String] = ["/usr/bin/unshare", "/bin/unshare"]
        guard let unshare = places.first(where: { FileManager.default.isExecutableFile(atPath: $0) }) else {
            throw Failure(description: "unshare is not installed")
        }
        var environment = ProcessInfo.processInfo.environment
        environment["PATH"] = "/usr/sbin:/sbin:/usr/bin:/bin"
        shell = try ChildProcess(
            unshare, ["-Urnmpf", "--mount-proc", "--kill-child", "/bin/sh"],
            environment: environment.map { "\($0)=\($1)" }, errors: "/dev/null")
        try run("ip link set lo up")
    }

    /// Runs a command and gives what it printed.
    ///
    /// - Throws: When its status is not 0.
    @discardableResult
    func run(_ command: String) throws -> [String] {
        try lock.withLock {
            let line = Array("{ \(command)\n} 2>&1 </dev/null; echo '\(Self.end)'$?\n".utf8)
            guard send(shell.input, line, line.count, Int32(MSG_NOSIGNAL)) == line.count else {
                throw Failure(description: "\(command): no shell")
            }
            var output: [String] = []
            while let line = shell.readLine() {
                if line.hasPrefix(Self.end) {
                    if line == Self.end + "0" { return output }
                    throw Failure(description: "\(command): \(line.dropFirst(Self.end.count)), \(output)")
                }
                output.append(line)
            }
            throw Failure(description: "\(command): no answer")
        }
    }

    /// Makes a link that is down; the interface at its other end has the name with an `x`, and is up.
    func addLink(_ name: String, address: String? = nil) throws {
        try run("ip link add \(name) type veth peer name \(name)x && ip link set \(name)x up")
        if let address { try run("ip addr add \(address) dev \(name)") }
    }

    /// Starts a program in this network, beside the shell.
    ///
    /// - Parameter output: A file for what it prints.
    func start(_ executable: String, _ arguments: [String], output: String) throws {
        let (command, errors) = (([executable] + arguments).shellWords, (output + ".errors").shellWord)
        try run("\(command) >\(output.shellWord) 2>\(errors) &")
    }
}
