import Foundation
import Glibc
import Testing

/// A squid of a test's own: in a directory of its own, one process, ports nobody else has.
///
/// The first port lets everybody in, the second those who say who they are, by Basic unless a test wants other schemes:
/// alice, whose password is `wonder:land` and who is not known to Digest, bob, whose is `builder`, and carol, whose is
/// `singer`.
final class SquidServer: Sendable {
    let port: UInt16
    let securedPort: UInt16
    private let directory: TemporaryDirectory
    private let process: ChildProcess
    private let name: String

    static let executable: String? = ["/usr/sbin/squid", "/usr/local/sbin/squid"].first { access($0, X_OK) == 0 }

    /// How it tells users apart.
    enum Scheme: String, CaseIterable {
        case basic = "basic_ncsa_auth"
        case digest = "digest_file_auth"

        /// The program that knows the passwords.
        var helper: String? {
            ["/usr/lib/squid", "/usr/lib64/squid", "/usr/libexec/squid"].map { "\($0)/\(rawValue)" }
                .first { access($0, X_OK) == 0 }
        }
    }

    /// Whether squid and what it needs to tell users apart are installed.
    static let canRun =
        executable != nil && Certificate.openssl != nil && Scheme.allCases.allSatisfy { $0.helper != nil }

    /// The program that checks tickets.
    static let negotiator = ["/usr/lib/squid", "/usr/lib64/squid", "/usr/libexec/squid"]
        .map { $0 + "/negotiate_kerberos_auth" }.first { access($0, X_OK) == 0 }

    static let alice = (name: "alice", password: "wonder:land")
    static let bob = (name: "bob", password: "builder")
    static let carol = (name: "carol", password: "singer")

    /// - Parameter realm: Whose tickets for `HTTP/localhost` it takes, by Negotiate and nothing else.
    init(_ schemes: [Scheme] = [.basic], realm: KerberosRealm? = nil) async throws {
        let executable = try #require(Self.executable, "squid is not installed")
        for attempt in 1... {
            let directory = try TemporaryDirectory()
            // Started by root it goes on as a user of its own, who has to get in here.
            chmod(directory.path, 0o755)
            chmod(try directory.makeDirectory("run"), 0o777)
            let ports = try [ListeningSocket(), ListeningSocket()].map(\.port)
            let name = "trawl\(getpid())x\(ports[0])"
            let users = try realm.map(Self.negotiation) ?? Self.users(directory, schemes)
            try Self.configure(directory, ports, users)
            let process = try ChildProcess(
                executable, ["-N", "-n", name, "-f", directory.file("squid.conf")],
                environment: ["PATH=/usr/sbin:/usr/bin:/sbin:/bin"] + (realm?.environment ?? []),
                errors: directory.file("stderr"), isServer: true)
            func log() -> String {
                ["run/cache.log", "stderr"].map { String(decoding: directory.content($0) ?? [], as: UTF8.self) }
                    .joined()
            }
            let isUp = await eventually(within: .seconds(30)) {
                log().components(separatedBy: "Accepting HTTP Socket").count > 2 || !process.isRunning
            }
            if isUp, process.isRunning {
                (port, securedPort) = (ports[0], ports[1])
                self.directory = directory
                self.process = process
                self.name = name
                return
            }
            process.end(grace: 1)
            Self.forget(name)
            guard log().contains("Address already in use"), attempt < 5 else {
                throw ChildProcess.Failure(description: "squid does not start: \(log())")
            }
        }
        throw ChildProcess.Failure(description: "squid does not start")
    }

    deinit { stop() }

    /// The proxy's place, for everybody.
    var place: String { "127.0.0.1:\(port)" }
    /// The proxy's place, for its users.
    var securedPlace: String { "127.0.0.1:\(securedPort)" }

    /// What it was asked so far: `METHOD URL USER STATUS`, where the user is `-` when nobody said who it was.
    func log() -> [String] {
        let text = String(decoding: directory.content("run/access.log") ?? [], as: UTF8.self)
        return text.split(separator: "\n").map(String.init)
    }

    /// Waits until as many lines fulfil a condition: a tunnel is written down when it is closed.
    func hasLogged(_ count: Int, _ condition: (String) -> Bool) async -> Bool {
        await eventually { log().count(where: condition) >= count }
    }

    func stop() {
        process.signal(SIGTERM)
        process.end(grace: 10_000)
        Self.forget(name)
    }

    /// It leaves shared memory behind when it is ended by force.
    private static func forget(_ name: String) {
        for part in ["metadata", "queues", "readers"] { shm_unlink("/\(name)-cf__\(part).shm") }
    }

    /// The files of passwords, and what the configuration says of them.
    private static func users(_ directory: TemporaryDirectory, _ schemes: [Scheme]) throws -> String {
        var lines: [String] = []
        for scheme in schemes {
            var users = ""
            for user in scheme == .basic ? [alice, bob, carol] : [bob, carol] {
                var secret = user.password
                if scheme == .basic {
                    let hash = try ChildProcess(try #require(Certificate.openssl), ["passwd", "-apr1", user.password])
                    secret = try #require(hash.readLine())
                }
                users += "\(user.name):\(secret)\n"
            }
            let file = "users.\(scheme)"
            try directory.put(file, Array(users.utf8))
            chmod(directory.file(file), 0o644)
            lines += [
                "auth_param \(scheme) program \(try #require(scheme.helper)) \(directory.file(file))",
                "auth_param \(scheme) children 1", "auth_param \(scheme) realm den of squids",
            ]
        }
        return lines.joined(separator: "\n")
    }

    /// What the configuration says of a realm.
    private static func negotiation(_ realm: KerberosRealm) throws -> String {
        let helper = try #require(negotiator, "squid's helper for Kerberos is not installed")
        return """
            auth_param negotiate program \(helper) -k \(realm.keytab) -s HTTP/localhost -t none
            auth_param negotiate children 1
            """
    }

    private static func configure(_ directory: TemporaryDirectory, _ ports: [UInt16], _ users: String) throws {
        let configuration = """
            http_port 127.0.0.1:\(ports[0])
            http_port 127.0.0.1:\(ports[1]) name=secured
            \(users)
            acl users proxy_auth REQUIRED
            acl secured myportname secured
            acl forbidden dst 127.0.0.9
            http_access deny forbidden
            http_access deny secured !users
            http_access allow all
            cache deny all
            memory_cache_shared off
            logformat brief %rm %ru %un %>Hs
            access_log stdio:\(directory.file("run/access.log")) brief
            cache_log \(directory.file("run/cache.log"))
            pid_filename \(directory.file("run/pid"))
            coredump_dir \(directory.file("run"))
            netdb_filename none
            pinger_enable off
            shutdown_lifetime 0 seconds
            visible_hostname squid.test
            buffered_logs off
            strip_query_terms off

            """
        try directory.put("squid.conf", Array(configuration.utf8))
        chmod(directory.file("squid.conf"), 0o644)
    }
}
