package import TrawlHTTP

/// How TLS is set up: whom to trust, who we are, and what may be agreed on.
///
/// Connections are shared by transfers with equal terms alone.
package struct TLSTerms: Sendable, Hashable {
    /// TLS versions, in the order of their age.
    package enum Version: UInt8, Sendable, Hashable {
        case any, tls1_0, tls1_1, tls1_2, tls1_3
    }

    /// When the coordinator is asked whether the server is to be trusted.
    package enum TrustQuestion: UInt8, Sendable, Hashable {
        /// The rules decide.
        case never
        /// When they would refuse.
        case unlessVerified
        /// Always.
        case always
    }

    /// Whether the server's certificate must be one that is trusted.
    package var verifiesPeer = true
    /// Whether the server's certificate must name the host.
    package var verifiesHost = true
    /// When the coordinator has the last word, before any byte of a request.
    package var question = TrustQuestion.never
    /// The oldest version accepted.
    package var minimum = Version.tls1_2
    /// The newest version offered; `any` is no limit.
    package var maximum = Version.any
    /// A file of trusted certificates in PEM form; empty is the system's.
    package var caFile = ""
    /// A directory of trusted certificates, named by the hashes of their subjects; empty is none.
    package var caDirectory = ""
    /// Trusted certificates in PEM form; empty is none.
    package var caData: [UInt8] = []
    /// The only public keys accepted, as libcurl takes them: a file, or `sha256//…` joined by `;`. Empty is any.
    package var pins = ""
    /// Ciphers up to TLS 1.2, in OpenSSL's notation; empty is its default.
    package var ciphers = ""
    /// Ciphers of TLS 1.3; empty is OpenSSL's default.
    package var ciphers13 = ""
    /// The client certificate; nil is none.
    package var identity: TLSIdentity?

    /// The defaults: verified, TLS 1.2 and newer, the system's trust.
    package init() {}

    /// Whether whom to trust is not the system's choice alone.
    package var hasOwnTrust: Bool {
        !caFile.isEmpty || !caDirectory.isEmpty || !caData.isEmpty || !pins.isEmpty
    }

    /// What stands for the choice of whom to trust: equal choices have equal bytes.
    package var trustBytes: [UInt8] {
        guard hasOwnTrust else { return [] }
        var writer = WireWriter()
        writer.write(caFile)
        writer.write(caDirectory)
        writer.write(caData)
        writer.write(pins)
        return writer.bytes
    }

    func write(to writer: inout WireWriter) {
        writer.write(verifiesPeer)
        writer.write(verifiesHost)
        writer.write(question.rawValue)
        writer.write(minimum.rawValue)
        writer.write(maximum.rawValue)
        writer.write(caFile)
        writer.write(caDirectory)
        writer.write(caData)
        writer.write(pins)
        writer.write(ciphers)
        writer.write(ciphers13)
        writer.write(identity != nil)
        identity?.write(to: &writer)
    }

    init(from reader: inout WireReader) throws(FrameError) {
        verifiesPeer = try reader.bool()
        verifiesHost = try reader.bool()
        guard let question = TrustQuestion(rawValue: try reader.byte()) else { throw .invalid(.version) }
        self.question = question
        guard let minimum = Version(rawValue: try reader.byte()), let maximum = Version(rawValue: try reader.byte())
        else { throw .invalid(.version) }
        self.minimum = minimum
        self.maximum = maximum
        caFile = try reader.text()
        caDirectory = try reader.text()
        caData = try reader.data()
        pins = try reader.text()
        ciphers = try reader.text()
        ciphers13 = try reader.text()
        if try reader.bool() { identity = try TLSIdentity(from: &reader) }
    }
}

/// A client certificate with its key.
package struct TLSIdentity: Sendable, Hashable {
    /// How a certificate or key is written down.
    package enum Format: UInt8, Sendable, Hashable {
        case pem, der, pkcs12
    }

    /// Where it is.
    package enum Source: Sendable, Hashable {
        /// In a file, read for each connection.
        case path(String)
        /// Here.
        case data(SecretBytes)
    }

    /// The certificate and its chain.
    package var certificate: Source
    /// Its form.
    package var certificateFormat = Format.pem
    /// Its key; nil when it stands beside the certificate.
    package var key: Source?
    /// The key's form; not PKCS#12.
    package var keyFormat = Format.pem
    /// What the key is encrypted with; empty is nothing.
    package var passphrase = SecretBytes([])

    /// A certificate whose key stands beside it.
    package init(certificate: Source) { self.certificate = certificate }

    func write(to writer: inout WireWriter) {
        certificate.write(to: &writer)
        writer.write(certificateFormat.rawValue)
        writer.write(key != nil)
        key?.write(to: &writer)
        writer.write(keyFormat.rawValue)
        writer.write(passphrase.revealed)
    }

    init(from reader: inout WireReader) throws(FrameError) {
        certificate = try Source(from: &reader)
        guard let format = Format(rawValue: try reader.byte()) else { throw .invalid(.version) }
        certificateFormat = format
        if try reader.bool() { key = try Source(from: &reader) }
        guard let keyFormat = Format(rawValue: try reader.byte()) else { throw .invalid(.version) }
        self.keyFormat = keyFormat
        passphrase = SecretBytes(try reader.data())
    }
}

extension TLSIdentity.Source {
    fileprivate func write(to writer: inout WireWriter) {
        switch self {
        case .path(let path):
            writer.write(UInt8(0))
            writer.write(path)
        case .data(let data):
            writer.write(UInt8(1))
            writer.write(data.revealed)
        }
    }

    fileprivate init(from reader: inout WireReader) throws(FrameError) {
        switch try reader.byte() {
        case 0: self = .path(try reader.text())
        case 1: self = .data(SecretBytes(try reader.data()))
        default: throw .invalid(.body)
        }
    }
}
