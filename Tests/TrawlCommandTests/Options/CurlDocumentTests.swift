import Foundation
import TestSupport
import Testing
import Trawl

@testable import TrawlCommand

@Suite("docs/curl.md")
struct CurlDocumentTests {
    private func rows() throws -> [Substring] {
        try String(contentsOfFile: Checkout.path("docs/curl.md"), encoding: .utf8).split(separator: "\n")
    }

    /// Those of `-w` in curl 7.88, but for what is none: `onerror`, `stderr`, `stdout`.
    private static let variables = [
        "certs", "content_type", "errormsg", "exitcode", "filename_effective", "ftp_entry_path", "header_json",
        "http_code", "http_connect", "http_version", "json", "local_ip", "local_port", "method", "num_certs",
        "num_connects", "num_headers", "num_redirects", "proxy_ssl_verify_result", "redirect_url", "referer",
        "remote_ip", "remote_port", "response_code", "scheme", "size_download", "size_header", "size_request",
        "size_upload", "speed_download", "speed_upload", "ssl_verify_result", "time_appconnect", "time_connect",
        "time_namelookup", "time_pretransfer", "time_redirect", "time_starttransfer", "time_total", "url",
        "url_effective", "urlnum",
    ]

    @Test("names the variables of -w that there are none of, and no other")
    func missingVariables() throws {
        let rows = try rows()
        let row = try #require(rows.first { $0.hasPrefix("| `certs`") })
        for name in Self.variables {
            #expect(row.contains("`\(name)`") == !WriteOut("%{\(name)}").unknown.isEmpty, "\(name)")
        }
    }

    @Test("has the limits of time that hold without an option")
    func limits() throws {
        let rows = try rows()
        let limits = RequestOptions().timeLimits
        for (option, limit) in [("--connect-timeout", limits.connect), ("--read-timeout", limits.inactivity)] {
            let row = rows.first { $0.hasPrefix("| ") && $0.contains("`\(option)`") }
            let here = row?.split(separator: "|").dropFirst().first
            #expect(here?.contains("\(limit.components.seconds) s") == true, "\(option)")
        }
    }
}
