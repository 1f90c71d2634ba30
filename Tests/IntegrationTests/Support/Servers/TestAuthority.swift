import Foundation
import Glibc
import Testing

/// A certificate authority of a test's own.
struct TestAuthority: Sendable {
    typealias Pair = (certificate: String, key: String)

    /// When a certificate is valid, against the moment it is made.
    enum Validity {
        case now, past, future
    }

    let directory: TemporaryDirectory
    /// The authority's own certificate, a PEM file; signed by itself unless another one vouches for it.
    let root: String
    private let key: String
    private let name: String

    init(in directory: TemporaryDirectory, name: String = "authority") throws {
        self.directory = directory
        self.name = name
        root = directory.file(name + ".pem")
        key = directory.file(name + "-key.pem")
        try Self.prepare(name, in: directory)
        try Self.openssl(
            ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "30"]
                + ["-subj", "/CN=\(name)", "-keyout", key, "-out", root], directory)
    }

    private init(_ directory: TemporaryDirectory, _ name: String, _ pair: Pair) {
        self.directory = directory
        self.name = name
        root = pair.certificate
        key = pair.key
    }

    /// An authority that this one vouches for: who trusts this one needs its certificate to trust those it issues.
    func intermediate(_ name: String) throws -> TestAuthority {
        try Self.prepare(name, in: directory)
        let extensions = ["basicConstraints=critical,CA:TRUE", "keyUsage=critical,keyCertSign,cRLSign"]
        return TestAuthority(directory, name, try issue(name, extensions, .now))
    }

    /// What issuing needs beside certificate and key.
    private static func prepare(_ name: String, in directory: TemporaryDirectory) throws {
        let place = try directory.makeDirectory(name)
        try directory.put("\(name)/index.txt", [])
        try directory.put("\(name)/serial", Array("01\n".utf8))
        let configuration = """
            [ca]
            default_ca = own
            [own]
            dir = \(place)
            database = $dir/index.txt
            serial = $dir/serial
            new_certs_dir = $dir
            default_md = sha256
            unique_subject = no
            copy_extensions = copy
            policy = any
            [any]
            commonName = supplied
            """
        try directory.put("\(name)/ca.cnf", Array(configuration.utf8))
    }

    /// Issues a certificate.
    ///
    /// - Parameters:
    ///   - file: The files are `FILE.pem` and `FILE-key.pem`.
    ///   - subjects: What it is for, as in `DNS:one.test,IP:127.0.0.1`.
    func issue(_ file: String, subjects: String, _ validity: Validity = .now) throws -> Pair {
        try issue(file, ["subjectAltName=\(subjects)"], validity)
    }

    private func issue(_ file: String, _ extensions: [String], _ validity: Validity) throws -> Pair {
        let pair = (directory.file(file + ".pem"), directory.file(file + "-key.pem"))
        let request = directory.file(file + ".csr")
        try Self.openssl(
            ["req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj", "/CN=\(file)"]
                + extensions.flatMap { ["-addext", $0] } + ["-keyout", pair.1, "-out", request], directory)
        let day = 86_400.0
        let (start, end) =
            switch validity {
            case .now: (-day, 10 * day)
            case .past: (-10 * day, -day)
            case .future: (day, 10 * day)
            }
        try Self.openssl(
            ["ca", "-batch", "-notext", "-config", directory.file("\(name)/ca.cnf"), "-cert", root, "-keyfile", key]
                + ["-in", request, "-out", pair.0, "-startdate", Self.date(start), "-enddate", Self.date(end)],
            directory)
        return pair
    }

    private static func date(_ offset: Double) -> String {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(identifier: "UTC")
        formatter.dateFormat = "yyyyMMddHHmmss'Z'"
        return formatter.string(from: Date(timeIntervalSinceNow: offset))
    }

    /// Runs openssl and returns what it prints.
    @discardableResult
    static func openssl(_ arguments: [String], _ directory: TemporaryDirectory) throws -> String {
        let process = try ChildProcess(
            try #require(Certificate.openssl), arguments, errors: directory.file("openssl.log"))
        var lines: [String] = []
        while let line = process.readLine() { lines.append(line) }
        guard process.exitStatus(within: 30_000) == 0 else {
            let log = String(decoding: directory.content("openssl.log") ?? [], as: UTF8.self)
            throw ChildProcess.Failure(description: "openssl \(arguments): \(log)")
        }
        return lines.joined(separator: "\n")
    }
}
