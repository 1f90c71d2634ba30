import Foundation
import Glibc
import Testing

/// An apache of a test's own: its files in a directory of its own, a port nobody else has.
final class ApacheServer: Sendable {
    static let executable: String? = ["/usr/sbin/apache2", "/usr/sbin/httpd"].first { access($0, X_OK) == 0 }
    static let canRun = executable != nil && modules != nil
    static let missing: Comment = "apache2 is not installed"
    /// Where its modules are, if they are anywhere.
    static let modules: String? = ["/usr/lib/apache2/modules", "/usr/lib64/httpd/modules"].first {
        access($0, R_OK) == 0
    }

    let port: UInt16
    let directory: TemporaryDirectory
    private let process: ChildProcess

    /// Starts it with the configuration that `makeConfiguration` writes, besides what every server needs.
    ///
    /// - Parameter named: Modules beyond those for plain files and authentication.
    init(
        modules named: [String] = [], environment: [String] = [],
        _ makeConfiguration: (TemporaryDirectory) throws -> String
    ) async throws {
        let executable = try #require(Self.executable, "apache2 is not installed")
        let modules = try #require(Self.modules)
        for attempt in 1... {
            let directory = try TemporaryDirectory()
            let port = try ListeningSocket().port
            let all =
                [
                    "mpm_event", "authn_core", "authn_file", "authz_core", "authz_user", "auth_basic", "auth_digest",
                    "alias",
                ]
                + named
            let loads = all.map { name in
                let file = "\(modules)/mod_\(name).so"
                return "LoadModule \(name)_module \(file)"
            }
            let own = try makeConfiguration(directory)
            // Started by root it serves as somebody else, who must be let in.
            chmod(directory.path, 0o755)
            let user = geteuid() == 0 ? "User www-data\nGroup www-data" : ""
            let configuration = """
                ServerRoot \(directory.path)
                DefaultRuntimeDir \(directory.path)
                PidFile \(directory.file("pid"))
                ServerName 127.0.0.1
                Listen 127.0.0.1:\(port)
                ErrorLog \(directory.file("error.log"))
                LogLevel notice
                Mutex posixsem
                \(loads.joined(separator: "\n"))
                \(user)
                StartServers 1
                ServerLimit 1
                ThreadsPerChild 32
                MaxRequestWorkers 32
                DocumentRoot \(directory.file("site"))
                \(own)
                """
            try directory.put("apache.conf", Array(configuration.utf8))
            let process = try ChildProcess(
                executable, ["-X", "-f", directory.file("apache.conf")],
                environment: ["PATH=/usr/bin:/bin"] + environment, errors: directory.file("stderr"), isServer: true)
            func log() -> String {
                ["error.log", "stderr"].map { String(decoding: directory.content($0) ?? [], as: UTF8.self) }.joined()
            }
            // Written behind listen(2). One process alone, by -X, says nothing when it is up.
            _ = await eventually(within: .seconds(20)) {
                directory.content("pid")?.isEmpty == false || !process.isRunning
            }
            if process.isRunning {
                self.port = port
                self.directory = directory
                self.process = process
                return
            }
            process.end()
            guard log().contains("could not bind"), attempt < 5 else {
                throw ChildProcess.Failure(description: "apache2 does not start: \(log())")
            }
        }
        throw ChildProcess.Failure(description: "apache2 does not start")
    }

    func url(_ target: String, host: String = "127.0.0.1") -> String { "http://\(host):\(port)\(target)" }

    func stop() {
        process.signal(SIGTERM)
        process.end()
    }
}
