import TrawlHTTP
import TrawlStore

/// A server that a program may trust or not, by its certificate. No byte of the request has been sent to it.
public struct ServerTrust: Sendable, Hashable {
    /// The server's host, in lower case and ASCII form.
    public let host: String
    /// Its port.
    public let port: Int
    /// The chain as the server sent it, in DER form, its own certificate first.
    public let certificates: [[UInt8]]
    /// What the rules have against it; nil when they have nothing.
    public let problem: FetchError?

    init(_ origin: Origin, _ certificates: [[UInt8]], problem: FetchError?) {
        host = origin.host
        port = Int(origin.port)
        self.certificates = certificates
        self.problem = problem
    }

    /// The digest by SHA-256 of the server's own certificate, in lower-case hexadecimal; empty when it cannot be made.
    public var fingerprint: String {
        guard let own = certificates.first, let digest = ContentDigest(of: own) else { return "" }
        return digest.withBytes { bytes in
            bytes.map { byte in
                let text = String(byte, radix: 16)
                return byte < 16 ? "0" + text : text
            }.joined()
        }
    }
}

/// Whether a server is trusted.
public enum TrustChoice: Sendable, Hashable {
    /// It is, whatever the rules say, and so is every later connection to the same host and port that shows the same
    /// certificate, as long as the coordinator lives.
    case accept
    /// It is not: the fetch fails, and nothing is sent.
    case refuse
    /// As the rules of the fetch have it. A fetch whose rules have nothing against the certificate is not asked about it
    /// again; one whose rules have something against it asks, or fails.
    case asVerified
}
