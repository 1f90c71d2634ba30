import Foundation
import Glibc
import Testing
import Trawl

/// An nginx with several sites on one port: with TLS of different kinds, in clear, with HTTP/2.
///
/// Every site answers `/who` with what it knows of the request, and serves `/big`, a known file, at `/trailers` with a
/// trailer section, and `/huge`, zeros that the disk does not have. `/to?URL` redirects.
struct WebSites: Sendable {
    /// A site's address, all in 127.0.0.0/8, but for the last.
    enum Site: String {
        /// TLS, HTTP/2 to those who ask.
        case secure = "127.0.0.1"
        case clear = "127.0.0.2"
        /// TLS, another origin.
        case otherSecure = "127.0.0.3"
        /// HTTP/2 without TLS.
        case clearHTTP2 = "127.0.0.4"
        case tls12 = "127.0.0.5"
        case tls13 = "127.0.0.6"
        /// TLS, with nobody let in who has no certificate.
        case members = "127.0.0.7"
        /// TLS, with a certificate for others.
        case wrongName = "127.0.0.8"
        /// In clear.
        case ipv6 = "[::1]"
    }

    static let canRun = NginxServer.executable != nil && Certificate.openssl != nil
    static let missing: Comment = "nginx and openssl are not installed"
    static let big = ReferenceBytes.bytes(3_000_000, seed: 77)
    static let hugeLength = 128 << 20

    /// Whether the machine has the loopback address of IPv6.
    static let hasIPv6 =
        (try? String(contentsOfFile: "/proc/net/if_inet6", encoding: .utf8))?
        .contains("00000000000000000000000000000001") ?? false

    let server: NginxServer
    /// The certificate to trust, for all sites but `wrongName`, and for `one.test`.
    let certificate: String
    /// What `members` wants, certificate and key.
    let member: (certificate: String, key: String)

    init() async throws {
        server = try await NginxServer { port, directory in
            let subjects = "IP:127.0.0.1,IP:127.0.0.3,IP:127.0.0.5,IP:127.0.0.6,IP:127.0.0.7,DNS:one.test"
            _ = try Certificate.make(in: directory, subjects: subjects)
            _ = try Certificate.make(in: directory, name: "member", subjects: "DNS:member")
            try directory.put("big", Self.big)
            try directory.put("huge", [])
            try #require(truncate(directory.file("huge"), off_t(Self.hugeLength)) == 0)
            return Self.configuration(port, directory)
        }
        certificate = server.directory.file("certificate.pem")
        member = (server.directory.file("member.pem"), server.directory.file("member-key.pem"))
    }

    func url(_ site: Site, _ target: String) -> String {
        let scheme = [.clear, .clearHTTP2, .ipv6].contains(site) ? "http" : "https"
        return "\(scheme)://\(site.rawValue):\(server.port)\(target)"
    }

    /// A GET that trusts the sites' certificate.
    func request(_ site: Site, _ target: String, _ adjust: (inout Request) -> Void = { _ in }) -> Request {
        var request = Request(url(site, target))
        request.options.tls.caFile = certificate
        adjust(&request)
        return request
    }

    /// Runs `body` with sites of its own.
    static func with<Value>(_ body: (WebSites) async throws -> Value) async throws -> Value {
        let sites = try await WebSites()
        defer { sites.server.stop() }
        return try await body(sites)
    }

    private static func configuration(_ port: UInt16, _ directory: TemporaryDirectory) -> String {
        func site(_ site: Site, _ kind: String, _ more: String = "") -> String {
            """
            server {
                listen \(site.rawValue):\(port) \(kind);
                \(more)
                location = /who {
                    return 200 "\(who)";
                }
                location = /to { return 307 $args; }
                location = /big { alias \(directory.file("big")); }
                location = /huge { alias \(directory.file("huge")); }
                location = /trailers {
                    # Without a length: libcurl ends a response whose length is known before what follows it.
                    gzip on;
                    gzip_types *;
                    add_trailer X-Sum "abc";
                    add_trailer Content-Type "text/html";
                    alias \(directory.file("big"));
                }
            }
            """
        }
        let sites = [
            site(.secure, "ssl http2"), site(.clear, ""), site(.otherSecure, "ssl http2"),
            site(.clearHTTP2, "http2"), site(.tls12, "ssl", "ssl_protocols TLSv1.2;"),
            site(.tls13, "ssl", "ssl_protocols TLSv1.3;"),
            site(
                .members, "ssl",
                "ssl_client_certificate \(directory.file("member.pem")); ssl_verify_client on;"),
            site(.wrongName, "ssl"), hasIPv6 ? site(.ipv6, "ipv6only=on") : "",
        ]
        return """
            http {
                access_log off;
                default_type text/plain;
                keepalive_requests 100000;
                ssl_protocols TLSv1.2 TLSv1.3;
                ssl_certificate \(directory.file("certificate.pem"));
                ssl_certificate_key \(directory.file("certificate-key.pem"));
                add_header X-Connection $connection always;
                \(sites.joined(separator: "\n"))
            }
            """
    }

    private static let who = """
        method=$request_method\\nprotocol=$server_protocol\\ntls=$ssl_protocol\\npeer=$remote_addr\\nhost=$http_host\\n\
        authorization=$http_authorization\\nproxy-authorization=$http_proxy_authorization\\ncookie=$http_cookie\\nmine=$http_x_mine\\nmember=$ssl_client_verify\\n
        """
}
