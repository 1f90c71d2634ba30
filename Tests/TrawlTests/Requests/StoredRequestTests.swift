import Foundation
import Testing

@testable import Trawl

@Suite("Requests and options that were written down")
struct StoredRequestTests {
    @Test("what was not written down is as by default: options may have come later than what is read")
    func missing() throws {
        #expect(try read(#"{"url":"http://a/"}"#, as: Request.self) == Request("http://a/"))
        var request = Request("http://a/")
        request.options.tls.minimum = .tls1_3
        let written = #"{"url":"http://a/","options":{"tls":{"minimum":"tls1_3"}}}"#
        #expect(try read(written, as: Request.self) == request)
        let groups = [
            "redirects", "timeLimits", "retry", "sizeLimits", "transport", "tls", "caching", "cookies",
            "authentication",
        ]
        for group in groups {
            #expect(try read("{\"\(group)\":{}}", as: RequestOptions.self) == .default, "\(group)")
        }
        #expect(try read(#"{"proxy":{}}"#, as: RequestOptions.self).proxy == .direct)
        #expect(try read(#"{"circuit":{}}"#, as: HostPoliteness.self).circuit == HostPoliteness.Circuit())
        #expect(try read(#"{"basis":"start"}"#, as: HostDelay.self) == HostDelay(.zero, from: .start))
        #expect(try read(#"{"connections":2}"#, as: HostRules.self) == HostRules(connections: 2))
        #expect(try read(#"{"upload":7}"#, as: BandwidthLimit.self) == BandwidthLimit(download: 0, upload: 7))
        #expect(try read(#"{"file":"/c"}"#, as: ClientIdentity.self) == ClientIdentity(file: "/c"))
    }

    @Test("a request without a URL, and a value that is none, are refused")
    func wrong() {
        for text in [
            "{}", #"{"url":"http://a/","options":{"redirects":{"mode":"sideways"}}}"#,
            #"{"url":"http://a/","options":{"redirects":{"limit":"many"}}}"#,
        ] {
            #expect(throws: DecodingError.self) { try read(text, as: Request.self) }
        }
    }

    @Test("fields with a line that cannot be sent are not written down without it")
    func refused() throws {
        var request = Request("http://a/", fields: ["A": "1"])
        #expect(try read(JSONEncoder().encode(request), as: Request.self) == request)
        request.fields["X-Key"] = "a\nb"
        let error = #expect(throws: EncodingError.self) { try JSONEncoder().encode(request) }
        guard case .invalidValue(let name as String, _)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(name == "X-Key")
    }

    @Test("each option that is encoded comes back as it was")
    func roundTrip() throws {
        let options = try everyOption()
        #expect(unchanged(options, RequestOptions()) == ["authentication.credential"], "set it in everyOption()")
        let request = Request("PURGE", "http://a/?q", fields: ["A": "1"], body: .bytes([1]), options: options)
        #expect(try read(JSONEncoder().encode(request), as: Request.self) == request)
        var politeness = HostPoliteness()
        politeness.key = .address
        politeness.delay = HostDelay(.seconds(1), random: .seconds(2), from: .start)
        politeness.circuit = everyCircuitRule()
        politeness.respectsRetryAfter = false
        politeness.longestRetryAfter = .seconds(3)
        #expect(unchanged(politeness, HostPoliteness()).isEmpty)
        #expect(try read(JSONEncoder().encode(politeness), as: HostPoliteness.self) == politeness)
        var limit = BandwidthLimit(download: 1, upload: 2)
        limit.burst = .seconds(1)
        #expect(try read(JSONEncoder().encode(limit), as: BandwidthLimit.self) == limit)
        let rules = HostRules(connections: 1, delay: HostDelay(.seconds(1)))
        #expect(try read(JSONEncoder().encode(rules), as: HostRules.self) == rules)
    }

    private func read<Value: Decodable>(_ text: String, as type: Value.Type) throws -> Value {
        try read(Data(text.utf8), as: type)
    }

    private func read<Value: Decodable>(_ data: Data, as type: Value.Type) throws -> Value {
        try JSONDecoder().decode(type, from: data)
    }

    /// The names of what is the same in both, groups being looked into.
    private func unchanged(_ options: Any, _ usual: Any, isGroup: Bool = false) -> [String] {
        var names: [String] = []
        for (now, before) in zip(Mirror(reflecting: options).children, Mirror(reflecting: usual).children) {
            let name = now.label ?? ""
            if !isGroup, Mirror(reflecting: now.value).displayStyle == .struct, !(now.value is Duration) {
                names += unchanged(now.value, before.value, isGroup: true).map { "\(name).\($0)" }
            } else if "\(now.value)" == "\(before.value)" {
                names.append(name)
            }
        }
        return names
    }

    private func everyCircuitRule() -> HostPoliteness.Circuit {
        var circuit = HostPoliteness.Circuit()
        circuit.failuresInRow = 1
        circuit.failureShare = 0.25
        circuit.shareOf = 2
        circuit.countsServerErrors = true
        circuit.firstPause = .seconds(3)
        circuit.longestPause = .seconds(4)
        circuit.retiresAfter = 5
        return circuit
    }

    private func everyOption() throws -> RequestOptions {
        var options = RequestOptions()
        options.redirects.mode = .classic
        options.redirects.limit = 1
        options.redirects.allowsDowngrade = true
        options.timeLimits.connect = .seconds(1)
        options.timeLimits.inactivity = .seconds(2)
        options.timeLimits.firstByte = .milliseconds(3)
        options.timeLimits.resource = .seconds(4)
        options.timeLimits.exchange = .seconds(5)
        options.timeLimits.connectivity = .seconds(6)
        options.retry.count = 1
        options.retry.longestTime = .seconds(2)
        options.retry.delay = .seconds(3)
        options.retry.longestRetryAfter = .seconds(4)
        options.retry.retriesRefusedConnections = true
        options.retry.retriesAllErrors = true
        options.retry.failsOnErrorStatus = true
        options.retry.repeatsAnyMethod = true
        options.waitsForConnectivity = true
        options.sizeLimits.headBytes = 1
        options.sizeLimits.headFields = 2
        options.sizeLimits.bodyBytes = 3
        options.sizeLimits.memoryBytes = 4
        options.sizeLimits.codingLayers = 5
        options.sizeLimits.codingRatio = 6
        setTransport(&options.transport)
        options.proxy = try ProxyPolicy(Proxy("http://p.test:8080"), exceptions: ["x.test"])
        setTLS(&options.tls)
        options.caching.cache = .at("/store")
        options.caching.policy = .doNotWrite
        options.caching.lifetime = .seconds(1)
        options.caching.storage = .session
        options.caching.respectsCacheControl = false
        options.caching.usesHeuristics = false
        options.caching.storesDownloads = true
        options.caching.forcesFallback = true
        options.caching.stopsAtEqualTag = true
        options.caching.failsWhenNotCached = true
        options.cookies.jar = .named("jar")
        options.cookies.accepts = .never
        options.cookies.mainDocumentURL = "http://m/"
        options.cookies.manual = [RequestCookie("name", "value")]
        options.cookies.repeatsManual = true
        options.authentication.schemes = .digest
        options.authentication.allowsClearText = true
        options.authentication.sendsAhead = false
        options.authentication.usesSession = false
        options.authentication.usesVault = true
        options.authentication.asks = false
        options.authentication.netrc = .file("/netrc")
        options.authentication.maxAttempts = 1
        options.authentication.whenRefused = .delivers
        options.acceptsCompressedResponses = false
        options.contentDecoding = .off
        options.defaultCharset = "UTF-8"
        options.userAgent = "me/1"
        options.omittedFields = ["Accept"]
        options.allowsBodyOnGET = true
        options.upgradesMethodForBody = true
        options.reusesConnection = false
        options.keepsConnection = false
        options.isExemptFromBandwidthLimits = true
        options.bandwidthShare = "share"
        return options
    }

    private func setTransport(_ transport: inout RequestOptions.Transport) {
        transport.version = .http2
        transport.addressFamily = .ipv6
        transport.idleLifetime = .seconds(1)
        transport.receiveBuffer = 4096
        transport.resolve = ["a:80:127.0.0.1"]
        transport.connectTo = ["a:80:b:81"]
        transport.verifiesProxy = false
        transport.proxyCAFile = "/proxy"
        transport.interface = "lo"
        transport.allowsHTTP = false
        transport.allowsHTTPS = false
    }

    private func setTLS(_ tls: inout RequestOptions.TLS) {
        tls.verification = .chainOnly
        tls.minimum = .tls1_1
        tls.maximum = .tls1_3
        tls.caFile = "/ca"
        tls.caDirectory = "/cas"
        tls.caData = [1]
        tls.identity = ClientIdentity(file: "/me")
        tls.identities = ["h.test": ClientIdentity(file: "/me", format: .der, key: "/key")]
        tls.pins = ["pin"]
        tls.pinFile = "/pin"
        tls.ciphers = "AES"
        tls.ciphers13 = "AES13"
        tls.question = .always
        tls.asksForIdentity = true
    }
}
