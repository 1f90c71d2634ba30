import Foundation
import Testing

/// The options that say where and how to connect.
@Suite(
    "The command to secure sites and by other ways", .enabled(if: WebSites.canRun, WebSites.missing),
    .timeLimit(.minutes(2)))
struct SecureCommandTests {
    private func get(_ sites: WebSites, _ arguments: [String]) throws -> CommandRun {
        try CommandRun(["get", "--cacert", sites.certificate] + arguments)
    }

    @Test("certificates and versions of TLS")
    func tls() async throws {
        try await WebSites.with { sites in
            let cases: [(status: Int32, site: WebSites.Site, arguments: [String])] = [
                (0, .secure, []), (60, .wrongName, []), (0, .wrongName, ["-k"]), (35, .tls13, ["--tls-max", "1.2"]),
                (35, .tls12, ["--tlsv1.3"]), (0, .tls12, ["--tls-max", "1.2"]), (0, .tls13, ["--tlsv1.3"]),
            ]
            for (status, site, arguments) in cases {
                let run = try get(sites, arguments + [sites.url(site, "/who")])
                #expect(run.status == status, "\(site) \(arguments): \(run.errors)")
            }
            #expect(try CommandRun(["get", sites.url(.secure, "/who")]).status == 60)
            #expect(try CommandRun(["get", "-k", sites.url(.secure, "/who")]).status == 0)
            #expect(try get(sites, ["--tls-max", "1.2", sites.url(.secure, "/who")]).text.contains("tls=TLSv1.2\n"))
            #expect(try CommandRun(["get", "--cacert", "/no/such/file", sites.url(.secure, "/who")]).status == 77)
        }
    }

    @Test("in batch and in pipe, too, an unknown certificate is a failure of TLS, and -k takes it")
    func unverified() async throws {
        try await WebSites.with { sites in
            let url = sites.url(.secure, "/who")
            for options in [[], ["-k"]] {
                let bed = try BatchBed()
                try bed.putList([url])
                let run = try bed.run(["-o", "body"] + options)
                let record = try #require(try bed.records().first, "\(run.errors)")
                let answers = try await PipeProcess.answers([#"{"id":1,"url":"\#(url)"}"#], options)
                let answer = try #require(answers["1"])
                if options.isEmpty {
                    #expect(run.status == 1 && record.code?.hasPrefix("tls") == true, "\(record.members)")
                    #expect(try bed.files().isEmpty)
                    #expect(answer.code == "tls" && answer.kind == record.code, "\(answer.text)")
                } else {
                    #expect(run.status == 0 && record.status == 200, "\(record.members)")
                    let body = bed.directory.content("out/body") ?? []
                    #expect(String(decoding: body, as: UTF8.self).contains("tls=TLSv1."))
                    #expect(answer.status == 200 && answer.code == nil, "\(answer.text)")
                    #expect(String(decoding: answer.body ?? [], as: UTF8.self).contains("tls=TLSv1."))
                }
            }
        }
    }

    @Test("a client certificate, alone or with its key")
    func clientCertificate() async throws {
        try await WebSites.with { sites in
            let url = sites.url(.members, "/who")
            let two = try get(sites, ["-E", sites.member.certificate, "--key", sites.member.key, url])
            #expect(two.text.contains("member=SUCCESS\n"), "\(two.errors)")
            let directory = try TemporaryDirectory()
            let parts = try [sites.member.key, sites.member.certificate].map {
                Array(try Data(contentsOf: URL(fileURLWithPath: $0)))
            }
            try directory.put("both.pem", parts[0] + parts[1])
            #expect(try get(sites, ["--cert", directory.file("both.pem"), url]).text.contains("member=SUCCESS\n"))
            let missing = try get(sites, ["-f", url])
            #expect(missing.status == 22 && missing.output.isEmpty)
            let wrong = try get(sites, ["-E", sites.member.certificate, url])
            #expect(wrong.status == 58 && wrong.errors.contains("tls_client_certificate"), "\(wrong.errors)")
        }
    }

    @Test("HTTP/2 when asked for, and not otherwise")
    func http2() async throws {
        try await WebSites.with { sites in
            let format = ["-o", "/dev/null", "-w", "%{http_version} %{size_download}"]
            #expect(try get(sites, ["--http2"] + format + [sites.url(.secure, "/big")]).text == "2 3000000")
            #expect(try get(sites, format + [sites.url(.secure, "/big")]).text == "1.1 3000000")
            let clear = ["--http2-prior-knowledge"] + format + [sites.url(.clearHTTP2, "/big")]
            #expect(try get(sites, clear).text == "2 3000000")
            let twice = ["--http2-prior-knowledge"] + [String](repeating: sites.url(.clearHTTP2, "/who"), count: 3)
            #expect(try get(sites, twice).text.split(separator: "\n").count { $0 == "protocol=HTTP/2.0" } == 3)
            let head = try get(sites, ["--http2", "-I", sites.url(.secure, "/big")])
            #expect(
                head.text.hasPrefix("HTTP/2 200\r\n") && head.text.contains("content-length: 3000000\r\n"),
                "\(head.text)")
        }
    }

    @Test("https leads to http only when that is allowed")
    func downgrade() async throws {
        try await WebSites.with { sites in
            let url = sites.url(.secure, "/to?" + sites.url(.clear, "/who"))
            let refused = try get(sites, ["-L", url])
            #expect(refused.status == 1 && refused.errors.contains("redirect_refused") && refused.output.isEmpty)
            #expect(try get(sites, ["-L", "--allow-downgrade", url]).text.contains("tls=\n"))
            #expect(try get(sites, [url]).status == 0)
        }
    }

    @Test("a name can be given an address, and a place another one, for this run")
    func places() async throws {
        try await WebSites.with { sites in
            let port = sites.server.port
            let resolved = try get(sites, ["--resolve", "one.test:\(port):127.0.0.1", "https://one.test:\(port)/who"])
            #expect(resolved.text.contains("host=one.test:\(port)\n"), "\(resolved.errors)")
            let connected = try get(sites, ["--connect-to", "one.test:443:127.0.0.1:\(port)", "https://one.test/who"])
            #expect(connected.text.contains("host=one.test\n"), "\(connected.errors)")
            let any = try get(sites, ["--connect-to", "::127.0.0.2:\(port)", "http://two.test/who"])
            #expect(any.text.contains("host=two.test\n"), "\(any.errors)")
            // Each name has the place that was named for it alone.
            let other = try get(sites, ["--resolve", "one.test:\(port):127.0.0.1", "http://[::ffff:127.0.0.1]:1/"])
            #expect(other.status == 7)
        }
    }

    @Test("connections come from the address that was asked for")
    func interface() async throws {
        try await WebSites.with { sites in
            let url = sites.url(.clear, "/who")
            #expect(try get(sites, ["--interface", "127.0.0.9", url]).text.contains("peer=127.0.0.9\n"))
            #expect(try get(sites, ["--interface", "lo", url]).status == 0)
            let wrong = try get(sites, ["--interface", "192.0.2.1", url])
            #expect(wrong.status == 45, "\(wrong.errors)")
        }
    }

    @Test("IPv6", .enabled(if: WebSites.hasIPv6, "this machine has no ::1"))
    func ipv6() async throws {
        try await WebSites.with { sites in
            let url = sites.url(.ipv6, "/who")
            #expect(try get(sites, [url]).text.contains("peer=::1\n"))
            let written = try get(sites, ["-6", "-o", "/dev/null", "-w", "%{remote_ip} %{remote_port}", url])
            #expect(written.text == "::1 \(sites.server.port)")
            #expect(try get(sites, ["-4", url]).status != 0)
        }
    }
}
