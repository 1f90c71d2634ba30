import ArgumentParser
import Trawl

/// Certificates and TLS versions.
struct TLSArguments: ParsableArguments {
    @Flag(
        name: [.customShort("k"), .customLong("insecure")],
        help: "Do not check the certificate of the URL's own host. Hosts that redirects lead to are checked.")
    var insecure = false

    @Option(
        name: .customLong("cacert"), parsing: .unconditional,
        help: ArgumentHelp(
            "Trust the certificates in this PEM file in place of the system's.", valueName: "file"),
        completion: .file())
    var caFile: String?

    @Option(
        name: .customLong("capath"), parsing: .unconditional,
        help: ArgumentHelp(
            "Trust the certificates in this directory, as 'openssl rehash' makes it, in place of the system's.",
            valueName: "directory"),
        completion: .directory)
    var caDirectory: String?

    @Option(
        name: [.customShort("E", allowingJoined: true), .customLong("cert")], parsing: .unconditional,
        help: ArgumentHelp(
            "Send the client certificate in this file to the URL's own origin; what follows a colon is its passphrase.",
            valueName: "file[:passphrase]"),
        completion: .file())
    var certificate: String?

    @Option(
        name: .customLong("cert-type"), parsing: .unconditional,
        help: ArgumentHelp("The certificate's form: PEM, DER or P12. Default PEM.", valueName: "form"))
    var certificateFormText: String?

    @Option(
        name: .customLong("key"), parsing: .unconditional,
        help: ArgumentHelp("Its key, when the certificate's file has none.", valueName: "file"), completion: .file())
    var key: String?

    @Option(
        name: .customLong("key-type"), parsing: .unconditional,
        help: ArgumentHelp("The key's form: PEM or DER. Default PEM.", valueName: "form"))
    var keyFormText: String?

    @Option(
        name: .customLong("pass"), parsing: .unconditional,
        help: ArgumentHelp("The key's passphrase. Other users may see it: better in a file for -K.", valueName: "text"))
    var passphrase: String?

    @Option(
        name: .customLong("pinnedpubkey"), parsing: .unconditional,
        help: ArgumentHelp(
            "Accept no server without this public key: a file, or sha256//DIGEST, several joined by ';'.",
            valueName: "file or digests"),
        completion: .file())
    var pins: String?

    @Option(
        name: .customLong("ciphers"), parsing: .unconditional,
        help: ArgumentHelp("Ciphers up to TLS 1.2, in OpenSSL's notation.", valueName: "list"))
    var ciphers: String?

    @Option(
        name: .customLong("tls13-ciphers"), parsing: .unconditional,
        help: ArgumentHelp("Ciphers of TLS 1.3.", valueName: "list"))
    var ciphers13: String?

    @Option(
        name: .customLong("hsts"), parsing: .unconditional,
        help: ArgumentHelp(
            "Keep the hosts that ask for secure transport only in this file, as curl does.", valueName: "file"),
        completion: .file())
    var hstsFile: String?

    @Flag(name: .customLong("no-hsts"), help: "Fetch http URLs by http, also of hosts that asked for https only.")
    var ignoresHSTS = false

    @Flag(exclusivity: .chooseLast)
    var minimum: MinimumTLS?

    @Option(
        name: .customLong("tls-max"), parsing: .unconditional,
        help: ArgumentHelp("Use no newer TLS version: 1.0 to 1.3, or default.", valueName: "version"))
    var maximumText: String?

    // As in PoolArguments.
    var maximum: MaximumTLS? { maximumText.flatMap { MaximumTLS(argument: $0) } }

    func validate() throws {
        try OptionText.check(maximumText, "--tls-max <version>", "one of \(MaximumTLS.names)") {
            MaximumTLS(argument: $0) != nil
        }
        try OptionText.check(certificateFormText, "--cert-type <form>", "one of PEM, DER, P12") {
            Self.form($0) != nil
        }
        try OptionText.check(keyFormText, "--key-type <form>", "one of PEM, DER") {
            Self.form($0).map { $0 != .pkcs12 } ?? false
        }
        try OptionText.check(ciphers, "--ciphers <list>", "ciphers in OpenSSL's notation") { !$0.isEmpty }
        try OptionText.check(ciphers13, "--tls13-ciphers <list>", "ciphers of TLS 1.3") { !$0.isEmpty }
        try OptionText.check(
            pins, "--pinnedpubkey <file or digests>",
            "a file, or sha256// and a digest of 44 characters, several of these joined by ';'"
        ) {
            !$0.hasPrefix("sha256//") || Self.pins($0) != nil
        }
    }

    /// What workers read.
    var files: [NamedFile] {
        let pinFile = pins.flatMap { $0.hasPrefix("sha256//") ? nil : $0 }
        let authorities = ExitStatus.Curl.certificateFileError
        let own = ExitStatus.Curl.certificateError
        return [
            caFile.map { NamedFile(option: "--cacert", path: $0, curlStatus: authorities) },
            caDirectory.map { NamedFile(option: "--capath", path: $0, curlStatus: authorities, isDirectory: true) },
            identity?.file.map { NamedFile(option: "--cert", path: $0, curlStatus: own) },
            key.map { NamedFile(option: "--key", path: $0, curlStatus: own) },
            pinFile.map { NamedFile(option: "--pinnedpubkey", path: $0, curlStatus: ExitStatus.Curl.pinError) },
        ].compactMap { $0 }
    }

    /// Fills in what these options say.
    func apply(to tls: inout RequestOptions.TLS) {
        if insecure { tls.verification = .none }
        tls.caFile = caFile
        tls.caDirectory = caDirectory
        tls.identity = identity
        if let pins {
            if let digests = Self.pins(pins) { tls.pins = digests } else { tls.pinFile = pins }
        }
        tls.ciphers = ciphers
        tls.ciphers13 = ciphers13
        switch minimum {
        case .tls1_0: tls.minimum = .tls1_0
        case .tls1_1: tls.minimum = .tls1_1
        case .tls1_2, nil: tls.minimum = .tls1_2
        case .tls1_3: tls.minimum = .tls1_3
        }
        tls.maximum = maximum?.version
    }

    /// Fills in what is the coordinator's.
    func apply(to configuration: inout Configuration) {
        configuration.usesHSTS = !ignoresHSTS
        // An empty name is no file, as in curl.
        configuration.hstsFile = hstsFile.flatMap { $0.isEmpty ? nil : $0 }
    }

    private var identity: ClientIdentity? {
        guard let certificate else { return nil }
        let (file, inline) = Self.fileAndPassphrase(certificate)
        var identity = ClientIdentity(
            file: file, format: certificateFormText.flatMap(Self.form) ?? Self.guessedForm(file), key: key,
            passphrase: inline ?? passphrase)
        identity.keyFormat = keyFormText.flatMap(Self.form) ?? .pem
        return identity
    }

    /// Cuts `FILE:PASSPHRASE` as curl does: `\:` is a colon of the name, and `\\` a backslash. By bytes: what follows may
    /// be one Character with its colon.
    static func fileAndPassphrase(_ text: String) -> (file: String, passphrase: String?) {
        let (colon, backslash) = (UInt8(ascii: ":"), UInt8(ascii: "\\"))
        var file: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            if byte == colon { return (String(decoding: file, as: UTF8.self), String(decoding: rest, as: UTF8.self)) }
            if byte == backslash, let next = rest.first, next == colon || next == backslash {
                file.append(next)
                rest.removeFirst()
            } else {
                file.append(byte)
            }
        }
        return (String(decoding: file, as: UTF8.self), nil)
    }

    private static func guessedForm(_ file: String) -> ClientIdentity.Format {
        let name = file.lowercased()
        return name.hasSuffix(".p12") || name.hasSuffix(".pfx") ? .pkcs12 : .pem
    }

    private static func form(_ text: String) -> ClientIdentity.Format? {
        switch text.lowercased() {
        case "pem": .pem
        case "der": .der
        case "p12", "pkcs12": .pkcs12
        default: nil
        }
    }

    /// The digests of `sha256//…;sha256//…`; nil when it is something else.
    private static func pins(_ text: String) -> [String]? {
        var digests: [String] = []
        for part in text.split(separator: ";", omittingEmptySubsequences: true) {
            guard part.hasPrefix("sha256//"), part.utf8.count == 8 + 44 else { return nil }
            digests.append(String(part.dropFirst(8)))
        }
        return digests.isEmpty ? nil : digests
    }
}

/// `--tlsv1.2` and its like.
enum MinimumTLS: String, EnumerableFlag {
    case tls1_0, tls1_1, tls1_2, tls1_3

    static func name(for value: MinimumTLS) -> NameSpecification {
        switch value {
        case .tls1_0: .customLong("tlsv1.0")
        case .tls1_1: .customLong("tlsv1.1")
        case .tls1_2: [.customLong("tlsv1.2"), .customLong("tlsv1")]
        case .tls1_3: .customLong("tlsv1.3")
        }
    }

    static func help(for value: MinimumTLS) -> ArgumentHelp? {
        switch value {
        case .tls1_0: "Accept TLS 1.0, out of use since RFC 8996."
        case .tls1_1: "Accept TLS 1.1, out of use since RFC 8996."
        case .tls1_2: "Accept TLS 1.2 and newer; the default."
        case .tls1_3: "Accept TLS 1.3 alone."
        }
    }
}

/// The value of `--tls-max`.
struct MaximumTLS: Equatable {
    /// Nil is the newest there is.
    let version: RequestOptions.TLS.Version?

    private static let versions: [(name: String, version: RequestOptions.TLS.Version?)] = [
        ("1.0", .tls1_0), ("1.1", .tls1_1), ("1.2", .tls1_2), ("1.3", .tls1_3), ("default", nil),
    ]

    static var names: String { versions.map { $0.name }.joined(separator: ", ") }

    init?(argument: String) {
        guard let known = Self.versions.first(where: { $0.name == argument }) else { return nil }
        version = known.version
    }
}
