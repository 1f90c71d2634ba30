import ArgumentParser
import Trawl

/// Certificates and TLS versions.
struct TLSArguments: ParsableArguments {
    @Flag(name: [.customShort("k"), .customLong("insecure")], help: "Do not check the server's certificate.")
    var insecure = false

    @Option(
        name: .customLong("cacert"), parsing: .unconditional,
        help: ArgumentHelp("Trust the certificates in this PEM file.", valueName: "file"), completion: .file())
    var caFile: String?

    @Option(
        name: [.customShort("E", allowingJoined: true), .customLong("cert")], parsing: .unconditional,
        help: ArgumentHelp("Send the client certificate in this PEM file.", valueName: "file"), completion: .file())
    var certificate: String?

    @Option(
        name: .customLong("key"), parsing: .unconditional,
        help: ArgumentHelp("Its key, when the certificate's file has none.", valueName: "file"), completion: .file())
    var key: String?

    @Flag(exclusivity: .chooseLast)
    var minimum: MinimumTLS?

    @Option(
        name: .customLong("tls-max"), parsing: .unconditional,
        help: ArgumentHelp("Use no newer TLS version: 1.0 to 1.3, or default.", valueName: "version"))
    var maximumText: String?

    // As in PoolArguments.
    var maximum: MaximumTLS? { maximumText.flatMap { MaximumTLS(argument: $0) } }

    func validate() throws {
        try OptionText.check(maximumText, "--tls-max <version>") { MaximumTLS(argument: $0) != nil }
    }

    /// Files that cannot be read would show only as a failed handshake.
    func unreadableFile(_ canRead: (String) -> Bool) -> String? {
        [caFile, certificate, key].compactMap { $0 }.first { !canRead($0) }
    }

    /// Fills in what these options say.
    func apply(to transport: inout RequestOptions.Transport) {
        if insecure {
            transport.verifiesPeer = false
            transport.verifiesHost = false
        }
        transport.caFile = caFile
        transport.clientCertificate = certificate
        transport.clientKey = key
        switch minimum {
        case .tls1_0: transport.minimumTLS = .tls1_0
        case .tls1_1: transport.minimumTLS = .tls1_1
        case .tls1_2, nil: transport.minimumTLS = .tls1_2
        case .tls1_3: transport.minimumTLS = .tls1_3
        }
        transport.maximumTLS = maximum?.version
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
    let version: RequestOptions.Transport.TLSVersion?

    init?(argument: String) {
        switch argument {
        case "default": version = nil
        case "1.0": version = .tls1_0
        case "1.1": version = .tls1_1
        case "1.2": version = .tls1_2
        case "1.3": version = .tls1_3
        default: return nil
        }
    }
}
