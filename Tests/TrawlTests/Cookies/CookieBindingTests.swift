import Testing
import TrawlHTTP
import TrawlSession

@testable import Trawl

@Suite("Cookies and the way of a request")
struct CookieBindingTests {
    private static let proxy = TrawlSession.Proxy(.http, host: "p.test", port: 80)

    private func binding(_ rules: ProxyRules) throws -> CookieBinding {
        var configuration = Configuration()
        configuration.store = .none
        let shelf = CacheShelf(configuration)
        let state = StateShelf(configuration, sessionID: shelf.sessionID)
        return try #require(
            CookieBinding(RequestOptions(), CookieSettings(configuration, state: state), proxies: rules))
    }

    private func target(_ host: String) -> TargetURI {
        let origin = Origin(scheme: "http", host: host, port: 80)
        return TargetURI(origin: origin, text: origin.text + "/", pathStart: origin.text.utf8.count, queryStart: nil)
    }

    @Test("this machine is trusted where the rules say that no proxy is between")
    func rules() throws {
        #expect(try binding(ProxyRules()).trustsLoopback(target("localhost"), by: nil))
        let proxied = try binding(ProxyRules(Self.proxy))
        #expect(!proxied.trustsLoopback(target("localhost"), by: nil))
        #expect(!proxied.trustsLoopback(target("localhost"), by: HopWay([Self.proxy], ProxyTerms(ProxyPolicy()))))
    }

    @Test("where a script is asked this machine is trusted once it has said so, and while that way is tried")
    func script() throws {
        var rules = ProxyRules()
        rules.script = "/p.pac"
        let binding = try binding(rules)
        var way = HopWay([Self.proxy, nil], ProxyTerms(ProxyPolicy()), isByScript: true)
        #expect(!binding.trustsLoopback(target("localhost"), by: nil))
        #expect(!binding.trustsLoopback(target("localhost"), by: way))
        let isAnother = way.advance()
        #expect(isAnother && binding.trustsLoopback(target("localhost"), by: way))
        #expect(!binding.trustsLoopback(target("a.test"), by: way))
    }

    @Test("what a request by one way takes and sends does not go by another", arguments: [true, false])
    func ways(isDirect: Bool) throws {
        var rules = ProxyRules()
        rules.script = "/p.pac"
        let binding = try binding(rules)
        let terms = ProxyTerms(ProxyPolicy())
        let (direct, proxied) = (HopWay([nil], terms), HopWay([Self.proxy], terms))
        var fields = FieldLines()
        try fields.append("Set-Cookie", "a=1; Secure")
        let here = target("localhost")
        binding.receive(fields, from: here, by: isDirect ? direct : proxied)
        #expect(binding.selection(for: here, by: direct, manual: []).field == (isDirect ? Array("a=1".utf8) : nil))
        #expect(binding.selection(for: here, by: proxied, manual: []).field == nil)
        #expect(binding.selection(for: here, by: nil, manual: []).field == nil)
    }
}
