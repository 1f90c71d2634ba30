import Foundation
import Glibc
import Testing

/// An nginx of a test's own: its files in a directory of its own, one process, a port nobody else has.
final class NginxServer: Sendable {
    let port: UInt16
    let directory: TemporaryDirectory
    private let process: ChildProcess

    static let missing: Comment = "nginx is not installed"
    /// Where nginx is, if it is installed.
    static let executable: String? = ["/usr/sbin/nginx", "/usr/local/sbin/nginx", "/usr/bin/nginx"]
        .first { access($0, X_OK) == 0 }

    /// Whether nginx and what it needs for TLS in front of any server are installed.
    static let canTerminateTLS = executable != nil && streamModule != nil && Certificate.openssl != nil

    private static let streamModule = [
        "/usr/lib/nginx/modules", "/usr/share/nginx/modules", "/usr/lib64/nginx/modules",
    ]
    .map { $0 + "/ngx_stream_module.so" }.first { access($0, R_OK) == 0 }

    /// Starts nginx with the configuration that `makeConfiguration` writes for a port.
    ///
    /// - Parameter makeConfiguration: Gets the port and a directory; returns everything below the main context's
    ///   process settings.
    init(_ makeConfiguration: (UInt16, TemporaryDirectory) throws -> String) async throws {
        let executable = try #require(Self.executable, "nginx is not installed")
        for attempt in 1... {
            let directory = try TemporaryDirectory()
            // Free at this moment; another process may take it before nginx does, and then a new one is tried.
            let port = try ListeningSocket().port
            let configuration = """
                daemon off; master_process off; worker_processes 1; pid \(directory.file("pid"));
                \(geteuid() == 0 ? "user root;" : "")
                error_log \(directory.file("error.log")) notice;
                events { worker_connections 1024; }

                """
            // An ordinary user may not make those that are built in; nginx makes them as it starts.
            let scratch = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
                .map { "\($0)_temp_path \(directory.file("temporary-" + $0));" }.joined(separator: " ")
            let own = try makeConfiguration(port, directory)
                .replacing("http {", with: "http { " + scratch, maxReplacements: 1)
            // Modules are loaded before anything else is said.
            let loads = own.split(separator: "\n").filter { $0.hasPrefix("load_module") }.joined(separator: "\n")
            let rest = own.split(separator: "\n").filter { !$0.hasPrefix("load_module") }.joined(separator: "\n")
            try directory.put("nginx.conf", Array((loads + "\n" + configuration + rest + "\n").utf8))
            let process = try ChildProcess(
                executable,
                ["-p", directory.path, "-e", directory.file("error.log"), "-c", directory.file("nginx.conf")],
                errors: directory.file("stderr"), isServer: true)
            func log() -> String { String(decoding: directory.content("error.log") ?? [], as: UTF8.self) }
            let isUp = await eventually(within: .seconds(20)) {
                log().contains("event method") || log().contains("[emerg]") || !process.isRunning
            }
            if isUp, process.isRunning, !log().contains("[emerg]") {
                self.port = port
                self.directory = directory
                self.process = process
                return
            }
            process.signal(SIGTERM)
            process.end()
            guard log().contains("Address already in use"), attempt < 5 else {
                let errors = String(decoding: directory.content("stderr") ?? [], as: UTF8.self)
                throw ChildProcess.Failure(description: "nginx does not start: \(log()) \(errors)")
            }
        }
        throw ChildProcess.Failure(description: "nginx does not start")
    }

    /// Ends it.
    func stop() {
        process.signal(SIGTERM)
        process.end()
    }
}

/// An nginx that takes TLS off in front of a port of 127.0.0.1, byte for byte.
struct TLSFront: Sendable {
    let server: NginxServer
    /// The certificate to trust, a PEM file.
    let certificate: String

    init(before port: UInt16) async throws {
        server = try await NginxServer { own, directory in
            let files = try Certificate.make(in: directory)
            return try Self.configuration(listening: own, before: port, files)
        }
        certificate = server.directory.file(Certificate.certificateName)
    }

    func url(_ target: String) -> String { "https://127.0.0.1:\(server.port)\(target)" }

    private static func configuration(
        listening own: UInt16, before port: UInt16, _ files: (certificate: String, key: String)
    ) throws -> String {
        """
        load_module \(try #require(NginxServer.streamModulePath));
        stream {
            server {
                listen 127.0.0.1:\(own) ssl;
                ssl_certificate \(files.certificate);
                ssl_certificate_key \(files.key);
                proxy_timeout 60s;
                proxy_pass 127.0.0.1:\(port);
            }
        }
        """
    }
}

extension NginxServer {
    fileprivate static var streamModulePath: String? { streamModule }
}

/// Throw-away certificates.
enum Certificate {
    static let certificateName = "certificate.pem"
    static let openssl: String? = ["/usr/bin/openssl", "/usr/local/bin/openssl"].first { access($0, X_OK) == 0 }

    /// Makes a certificate that signs itself, and its key.
    ///
    /// - Parameters:
    ///   - name: The files are `NAME.pem` and `NAME-key.pem`.
    ///   - subjects: What it is for.
    static func make(
        in directory: TemporaryDirectory, name: String = "certificate",
        subjects: String = "IP:127.0.0.1,DNS:localhost"
    ) throws -> (certificate: String, key: String) {
        let certificate = directory.file(name + ".pem")
        let key = directory.file(name + "-key.pem")
        let process = try ChildProcess(
            try #require(openssl, "openssl is not installed"),
            [
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
                "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=" + subjects,
                "-keyout", key, "-out", certificate,
            ], errors: directory.file("openssl.log"))
        process.end(grace: 30_000)
        guard access(certificate, R_OK) == 0, access(key, R_OK) == 0 else {
            let log = String(decoding: directory.content("openssl.log") ?? [], as: UTF8.self)
            throw ChildProcess.Failure(description: "openssl makes no certificate: \(log)")
        }
        return (certificate, key)
    }
}
