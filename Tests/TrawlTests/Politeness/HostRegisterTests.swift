import Testing
import TrawlHTTP

@testable import Trawl

@Suite("Hosts of a coordinator")
struct HostRegisterTests {
    private func origin(_ number: Int) -> Origin { Origin(scheme: "http", host: "\(number).test", port: 80) }

    @Test("a host with rules of its own keeps its number until they are taken back, whatever others come and go")
    func ruled() {
        var hosts = HostRegister(HostPoliteness(), connectionsPerHost: 6)
        var rules = HostRules()
        rules.connections = 2
        // Set twice, they use the number once.
        for _ in 0..<2 { hosts.release(hosts.setRules(rules, of: origin(0))) }
        #expect(Array(hosts.ruled) == [origin(0)])
        let number = hosts.retain(origin(0))
        hosts.release(number)
        pass(3000, &hosts)
        #expect(hosts.origin(of: number) == origin(0))
        hosts.release(hosts.setRules(nil, of: origin(0)))
        #expect(hosts.ruled.isEmpty)
        pass(3000, &hosts)
        #expect(hosts.origin(of: number) != origin(0))
    }

    @Test("lots are drawn from the first rule on that leaves something to chance")
    func lots() {
        var hosts = HostRegister(HostPoliteness(), connectionsPerHost: 6)
        var rules = HostRules()
        rules.delay = HostDelay(.seconds(1))
        hosts.release(hosts.setRules(rules, of: origin(0)))
        #expect(!hosts.drawsLots)
        rules.delay = HostDelay(.seconds(1), random: .seconds(1))
        hosts.release(hosts.setRules(rules, of: origin(1)))
        #expect(hosts.drawsLots)
    }

    /// Lets as many others have a number for a moment.
    private func pass(_ count: Int, _ hosts: inout HostRegister) {
        for number in 1...count { hosts.release(hosts.retain(origin(number))) }
    }
}
