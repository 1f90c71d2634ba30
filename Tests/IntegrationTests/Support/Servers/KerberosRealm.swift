import Foundation
import Glibc
import Testing

/// A Kerberos realm of a test's own: a KDC on a port nobody else has, its files in a directory of its own.
final class KerberosRealm: Sendable {
    private static let programs = [
        "/usr/sbin/krb5kdc", "/usr/sbin/kadmin.local", "/usr/sbin/kdb5_util", "/usr/bin/kinit",
    ]
    static let canRun =
        programs.allSatisfy { access($0, X_OK) == 0 }
        && ApacheServer.modules.map { access($0 + "/mod_auth_gssapi.so", R_OK) == 0 } == true
    static let missing: Comment =
        "krb5-kdc, krb5-admin-server, krb5-user or libapache2-mod-auth-gssapi is not installed"

    let directory: TemporaryDirectory
    private let process: ChildProcess

    /// The keys of `HTTP/localhost`.
    var keytab: String { directory.file("keytab") }
    /// What programs of the realm need in their environment.
    var environment: [String] { ["KRB5_CONFIG=\(directory.file("krb5.conf"))"] }

    /// Starts a realm with users, whose passwords are their names backwards.
    init(users: [String]) async throws {
        let directory = try TemporaryDirectory()
        chmod(directory.path, 0o755)
        let own = [
            "KRB5_CONFIG=\(directory.file("krb5.conf"))", "KRB5_KDC_PROFILE=\(directory.file("kdc.conf"))",
            "PATH=/usr/sbin:/usr/bin:/bin",
        ]
        // Making the users takes a while, and needs no port.
        try Self.configure(directory, port: ClosedPort.number)
        try Self.run("/usr/sbin/kdb5_util", ["create", "-s", "-P", "master", "-r", "TEST.REALM"], own, directory)
        var commands = users.map { "addprinc -pw \(String($0.reversed())) \($0)" }
        commands += ["addprinc -randkey HTTP/localhost", "ktadd -k \(directory.file("keytab")) HTTP/localhost"]
        for command in commands {
            try Self.run("/usr/sbin/kadmin.local", ["-r", "TEST.REALM", "-q", command], own, directory)
        }
        chmod(directory.file("keytab"), 0o644)
        func log() -> String { String(decoding: directory.content("kdc.log") ?? [], as: UTF8.self) }
        for _ in 0..<5 {
            // Free at this moment; another process may take it before the KDC does, which ends then, and a new one is
            // tried.
            try Self.configure(directory, port: ListeningSocket().port)
            let process = try ChildProcess(
                "/usr/sbin/krb5kdc", ["-n"], environment: own, errors: directory.file("kdc.log"), isServer: true)
            _ = await eventually { log().contains("starting") || !process.isRunning }
            if process.isRunning {
                self.directory = directory
                self.process = process
                return
            }
            process.end()
        }
        throw ChildProcess.Failure(description: "krb5kdc does not start: \(log())")
    }

    private static func configure(_ directory: TemporaryDirectory, port: UInt16) throws {
        try directory.put(
            "krb5.conf",
            Array(
                """
                [libdefaults]
                    default_realm = TEST.REALM
                    dns_lookup_kdc = false
                    dns_lookup_realm = false
                    dns_canonicalize_hostname = false
                    rdns = false
                    udp_preference_limit = 1
                [realms]
                    TEST.REALM = {
                        kdc = 127.0.0.1:\(port)
                    }
                [domain_realm]
                    localhost = TEST.REALM

                """.utf8))
        try directory.put(
            "kdc.conf",
            Array(
                """
                [kdcdefaults]
                    kdc_listen = 127.0.0.1:\(port)
                    kdc_tcp_listen = 127.0.0.1:\(port)
                [realms]
                    TEST.REALM = {
                        database_name = \(directory.file("principal"))
                        key_stash_file = \(directory.file("stash"))
                    }

                """.utf8))
    }

    /// Gets a user's ticket into a file.
    ///
    /// - Returns: What a program that is to use it needs in its environment.
    func ticket(for user: String) async throws -> [String] {
        let cache = "KRB5CCNAME=FILE:\(directory.file("ticket-\(user)"))"
        // The KDC may not listen yet.
        let isThere = await eventually(within: .seconds(60)) {
            do {
                try Self.run(
                    "/usr/bin/kinit", [user], environment + [cache], directory, input: String(user.reversed()) + "\n")
                return true
            } catch {
                return false
            }
        }
        #expect(isThere, "no ticket for \(user)")
        return environment + [cache]
    }

    func stop() { process.end() }

    private static func run(
        _ program: String, _ arguments: [String], _ environment: [String], _ directory: TemporaryDirectory,
        input: String = ""
    ) throws {
        try directory.put("input", Array(input.utf8))
        let process = Process()
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = arguments
        process.environment = Dictionary(
            environment.map { entry in
                let parts = entry.split(separator: "=", maxSplits: 1)
                return (String(parts[0]), String(parts[1]))
            }, uniquingKeysWith: { $1 })
        process.standardInput = FileHandle(forReadingAtPath: directory.file("input"))
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.runToEnd()
        if process.terminationStatus != 0 {
            throw ChildProcess.Failure(description: "\(program) \(arguments) failed")
        }
    }
}
