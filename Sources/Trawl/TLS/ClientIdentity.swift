package import TrawlHTTP

/// A client certificate with its key.
///
/// Files are read by workers, for each connection. What is given as data, and the passphrase, are sent to them over
/// their sockets and appear in no log, error, description or encoded form: one that was encoded has paths and forms
/// alone.
public struct ClientIdentity: Sendable, Hashable {
    /// How a certificate or a key is written down.
    public enum Format: String, Sendable, Hashable, Codable {
        /// PEM; the certificate may be followed by its chain.
        case pem
        /// DER, one certificate or key.
        case der
        /// PKCS#12: certificate, chain and key in one.
        case pkcs12
    }

    /// Where it is.
    package enum Source: Sendable, Hashable {
        case path(String)
        case data(SecretBytes)
    }

    /// The certificate.
    package var certificate: Source
    /// Its key; nil when it stands beside the certificate.
    package var key: Source?
    /// What the key or the PKCS#12 file is encrypted with.
    package var secret = SecretBytes([])
    /// The certificate's form.
    public var format: Format
    /// The key's form; not PKCS#12.
    public var keyFormat = Format.pem

    /// A certificate in a file.
    ///
    /// - Parameters:
    ///   - key: A file with its key; nil when the certificate's has it.
    ///   - passphrase: What the key is encrypted with; nil is nothing.
    public init(file: String, format: Format = .pem, key: String? = nil, passphrase: String? = nil) {
        certificate = .path(file)
        self.format = format
        self.key = key.map(Source.path)
        self.passphrase = passphrase
    }

    /// A certificate in memory.
    ///
    /// - Parameters:
    ///   - key: Its key; nil when it stands beside the certificate.
    ///   - passphrase: What the key is encrypted with; nil is nothing.
    public init(data: [UInt8], format: Format = .pem, key: [UInt8]? = nil, passphrase: String? = nil) {
        certificate = .data(SecretBytes(data))
        self.format = format
        self.key = key.map { .data(SecretBytes($0)) }
        self.passphrase = passphrase
    }

    /// What the key or the PKCS#12 file is encrypted with; nil is nothing.
    public var passphrase: String? {
        get { secret.isEmpty ? nil : String(decoding: secret.revealed, as: UTF8.self) }
        set { secret = SecretBytes(Array((newValue ?? "").utf8)) }
    }

    /// The certificate's file; nil when it is in memory.
    public var file: String? {
        if case .path(let path) = certificate { path } else { nil }
    }

    /// The key's file; nil when it is in memory or beside the certificate.
    public var keyFile: String? {
        if case .path(let path)? = key { path } else { nil }
    }
}

extension ClientIdentity: CustomStringConvertible, CustomReflectable {
    /// The certificate's path, or that it is in memory.
    public var description: String { "ClientIdentity(\(file ?? "in memory"))" }
    /// A mirror that shows no more than the description.
    public var customMirror: Mirror { Mirror(self, children: ["file": file ?? "in memory"]) }
}

extension ClientIdentity: Codable {
    private enum CodingKeys: String, CodingKey { case file, format, keyFile, keyFormat }

    /// Writes paths and forms.
    ///
    /// - Throws: When the certificate or its key is in memory: it is not written down.
    public func encode(to encoder: any Encoder) throws {
        if file == nil || key != nil && keyFile == nil {
            throw EncodingError.invalidValue(
                "in memory",
                EncodingError.Context(
                    codingPath: encoder.codingPath, debugDescription: "a client certificate in memory is not encoded"))
        }
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(file, forKey: .file)
        try container.encode(format, forKey: .format)
        try container.encodeIfPresent(keyFile, forKey: .keyFile)
        try container.encode(keyFormat, forKey: .keyFormat)
    }

    /// Reads paths and forms; a form that was not written down is as by default.
    public init(from decoder: any Decoder) throws {
        let stored = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            file: try stored.decode(String.self, forKey: .file),
            key: try stored.decodeIfPresent(String.self, forKey: .keyFile))
        try stored.read(.format, into: &format)
        try stored.read(.keyFormat, into: &keyFormat)
    }
}
